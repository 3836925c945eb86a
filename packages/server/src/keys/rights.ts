/**
 * What a key may do with jobs, groups, gates and stores. The queue that a job is in decides; of a
 * group, the queue that its full name begins with, whether the group exists or not.
 */
import {
  type CallRow,
  groupName,
  type JobNames,
  matchesPattern,
  type NewJob,
  type Outcome,
  type QueueOptions,
  queueOfGroup,
  type Right,
  SluiceError,
} from "@sluice/protocol";
import { forAllowed } from "../batch.ts";
import { BATCH_MAX, JOB_GATES_MAX } from "../limits.ts";
import { type Action, forbidden, forbiddenGate, isAmong } from "./grant.ts";
import type { Access, Permit } from "./permit.ts";

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

export function checkGroup(
  permit: Permit,
  actions: Action | readonly Action[],
  group: string,
): void {
  if (permit.canAll(actions)) return;
  const owner = queueOfGroup(String(group));
  if (owner === "") throw withoutQueue(group);
  permit.check(actions, owner);
}

/** Why a job of this queue may not join the group that it names; undefined: it may. */
export function refuseGroup(permit: Permit, queue: string, job: NewJob): SluiceError | undefined {
  const group: unknown = job?.group;
  if (typeof group !== "string") return undefined;
  const owner = queueOfGroup(groupName(queue, group));
  if (owner === queue || permit.can("produce", owner)) return undefined;
  return forbidden("produce", owner);
}

/**
 * Of the jobs that new ones name to wait for, those that the caller may not follow: it would get
 * their results. To it they do not exist.
 */
export async function hiddenJobs(
  { broker, permit }: Access,
  jobs: readonly { after?: unknown }[],
): Promise<ReadonlySet<string>> {
  if (!Array.isArray(jobs) || permit.canAll(EITHER)) return NONE;
  const ids = new Set<string>();
  for (const job of jobs) for (const id of afterIds(job)) ids.add(id);
  if (ids.size === 0) return NONE;
  const list = [...ids];
  const queues: (string | undefined)[] = [];
  for (let i = 0; i < list.length; i += BATCH_MAX) {
    queues.push(...(await broker.queuesOf(list.slice(i, i + BATCH_MAX))));
  }
  const isSeen = (queue: string | undefined): boolean =>
    queue !== undefined && permit.can(EITHER, queue);
  return new Set(list.filter((_, i) => !isSeen(queues[i])));
}

function* afterIds(job: { after?: unknown } | undefined): Generator<string> {
  const after = job?.after;
  for (const one of Array.isArray(after) ? after : []) {
    const id: unknown = typeof one === "string" ? one : one?.id;
    if (typeof id === "string") yield id;
  }
}

export function refuseAfter(hidden: ReadonlySet<string>, job: NewJob): SluiceError | undefined {
  if (hidden.size === 0) return undefined;
  for (const id of afterIds(job)) {
    if (!hidden.has(id)) continue;
    const message = `there is no job ${id} to wait for: it is unknown or no longer kept`;
    return new SluiceError("JOB_NOT_FOUND", message, { field: "job.after", value: id });
  }
  return undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** Who may add to a queue or look at its jobs may wait for them. */
const EITHER: readonly Action[] = ["produce", "view"];

function withoutQueue(group: string): SluiceError {
  const shown = JSON.stringify(String(group).slice(0, 64));
  const message = `name a group with its queue, such as "orders/batch-7"; got ${shown}`;
  return new SluiceError("INVALID", message, { field: "group", value: group });
}

/**
 * Why a job may not be added with the gates that it names; undefined: it may, or the broker refuses
 * it. `nameable`: patterns of gates that the key may name; undefined: all.
 */
export function refuseGates(
  nameable: readonly string[] | undefined,
  job: NewJob,
): SluiceError | undefined {
  const gates: unknown = job?.gates;
  if (nameable === undefined || !Array.isArray(gates)) return undefined;
  // Each name is held against every pattern, so there must not be too many.
  if (gates.length > JOB_GATES_MAX) return tooMany(gates.length);
  const mayName = (gate: unknown): boolean =>
    nameable.some((pattern) => matchesPattern(pattern, String(gate)));
  const foreign = gates.find((gate) => !mayName(gate));
  return foreign === undefined ? undefined : forbiddenGate("name", String(foreign).slice(0, 64));
}

function tooMany(count: number): SluiceError {
  const message = `job.gates must be an array of at most ${JOB_GATES_MAX} names, got ${count}`;
  return new SluiceError("INVALID", message, { field: "job.gates", value: count });
}

/**
 * A queue's policy puts gates on jobs, and failures of those jobs may cool these gates down. A
 * policy must give no rights that the key which sets it does not have. So the gates that it names
 * must be among the key's, and `cools` is stored with it: the gates that the key may cool down.
 */
export function limitedPolicy(permit: Permit, queue: string, options: QueueOptions): QueueOptions {
  const policy = options?.policy;
  if (typeof policy !== "object" || policy === null) return options;
  const names = permit.nameable(queue);
  if (names !== undefined) {
    // It cannot be known beforehand which gates a program names.
    if (policy.lua !== undefined) throw forbiddenGate("set a program that may name every", "*");
    for (const template of listOf(policy.gates)) {
      const pattern = patternOf(template);
      if (!isAmong(names, pattern)) throw forbiddenGate("set a policy that names", pattern);
    }
  }
  const coolable = permit.coolable();
  if (coolable === undefined) return options;
  const more = listOf(policy.cools).find((pattern) => !isAmong(coolable, pattern));
  if (more !== undefined) throw forbiddenGate("let workers cool down", more);
  if (policy.cools !== undefined) return options;
  return { ...options, policy: { ...policy, cools: [...new Set(coolable)] } };
}

/** All that a template can make begins with what precedes its first place. */
function patternOf(template: string): string {
  const place = template.indexOf("{");
  return place === -1 ? template : `${template.slice(0, place)}*`;
}

/** The broker refuses values that are no lists of texts. */
function listOf(texts: unknown): string[] {
  return Array.isArray(texts) ? texts.map(String) : [];
}

/** Stores of the server itself: out of reach of the store calls that the network can make. */
const RESERVED = "sluice:";

export const KEYS_STORE = `${RESERVED}keys`;
/** How queues have done, from before a restart. */
export const HISTORY_STORE = `${RESERVED}history`;
export const AUDIT_STORE = `${RESERVED}audit`;
export const WEBHOOKS_STORE = `${RESERVED}webhooks`;
/** Up to when the ends of jobs were sent to webhooks. */
export const WEBHOOKS_SENT_STORE = `${RESERVED}webhooks-sent`;

/** What policies read. All keys may read it, and only `admin` on everything may write it. */
export const CONFIG_STORE = "config";

/** Rights on a store: as on a queue of the same name, but for those of the server itself. */
export function enterStore(permit: Permit, may: Right, store: string): void {
  if (String(store).startsWith(RESERVED)) {
    const details = { field: "store", value: store };
    throw new SluiceError(
      "FORBIDDEN",
      `store ${store} is used by the server itself; choose another name`,
      details,
    );
  }
  if (may === "any") return store === CONFIG_STORE ? permit.enterValid() : permit.enterAny(store);
  return store === CONFIG_STORE ? permit.enterAll("admin") : permit.enter("produce", store);
}
