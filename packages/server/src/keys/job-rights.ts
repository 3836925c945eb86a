/** Rights on jobs: the queue that a job is in decides. */
import { type CallRow, type JobNames, type Outcome, SluiceError } from "@sluice/protocol";
import { forAllowed } from "../batch.ts";
import type { Access } from "./access.ts";
import { type Action, forbidden } from "./grant.ts";
import type { Permit } from "./permit.ts";

/** How an item of a batch names its job: as the caller wrote it, and the id in it. */
interface Naming {
  readonly field: "id" | "lease";
  readonly name: (item: unknown) => unknown;
}

const lease = (item: unknown): unknown => (item as { lease?: unknown } | undefined)?.lease;

const NAMINGS: Readonly<Record<Exclude<JobNames, "id">, Naming>> = {
  ids: { field: "id", name: (id) => id },
  leases: { field: "lease", name: (token) => token },
  items: { field: "lease", name: lease },
};

/** Makes a call for those items whose jobs are in queues on which it is allowed. */
export async function forOwnJobs<I, T>(
  { broker, permit }: Access,
  { may, jobs }: CallRow,
  items: readonly I[],
  call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const action = may as Action;
  const { field, name } = NAMINGS[jobs as keyof typeof NAMINGS];
  permit.enterValid();
  // The broker refuses values that are no lists.
  if (permit.canAll(action) || !Array.isArray(items)) return call(items);
  const ids = items.map((item) => (field === "id" ? (name(item) as string) : jobOf(name(item))));
  const queues = await broker.queuesOf(ids);
  const refusals = queues.map((queue, i): Outcome<T> | undefined => {
    const error = refuseJob(permit, action, queue, field, name(items[i]));
    return error === undefined ? undefined : { error: error.toJSON() };
  });
  return forAllowed(items, refusals, call);
}

/** Lets a call about one job in; answers the job's queue where it had to be asked for. */
export async function enterJob(
  { broker, permit }: Access,
  actions: Action | readonly Action[],
  id: string,
): Promise<string | undefined> {
  permit.enterValid();
  if (permit.canAll(actions)) return undefined;
  const [queue] = await broker.queuesOf([id]);
  const error = refuseJob(permit, actions, queue, "id", id);
  if (error !== undefined) throw error;
  return queue;
}

/** The queues of jobs, as far as the caller may see them. */
export async function seenQueues(
  { broker, permit }: Access,
  ids: readonly string[],
): Promise<(string | undefined)[]> {
  const queues = await broker.queuesOf(ids);
  return queues.map((queue) => (queue !== undefined && permit.sees(queue) ? queue : undefined));
}

/**
 * Why the caller may not do this with a job; undefined: it may, or the broker refuses it. A job
 * of a queue that it has no rights on is one that does not exist, as is one that no queue keeps:
 * an answer that differs would tell what others have. Lease tokens cannot be guessed, so the
 * holder of one learns that its job is over.
 */
function refuseJob(
  permit: Permit,
  actions: Action | readonly Action[],
  queue: string | undefined,
  field: "id" | "lease",
  name: unknown,
): SluiceError | undefined {
  if (queue === undefined ? field === "lease" : permit.can(actions, queue)) return;
  if (queue !== undefined && permit.sees(queue)) return forbidden(actions, queue);
  // The broker refuses it, in the same words for a job that does not exist.
  if (field === "lease" && !LEASE_TOKEN.test(String(name))) return;
  const details = { field, value: name };
  const what = field === "id" ? `job ${name}` : `job with the lease ${JSON.stringify(name)}`;
  return new SluiceError("JOB_NOT_FOUND", `there is no ${what}`, details);
}

/** The form of every token that a broker can accept: an id, the count of the delivery, a seal. */
const LEASE_TOKEN = /^[^.]+\.[1-9a-z][0-9a-z]{0,9}\.[\w-]{10}$/;

/** A lease's token begins with the id of its job. */
function jobOf(token: unknown): string {
  return typeof token === "string" ? token.split(".", 1)[0]! : "";
}
