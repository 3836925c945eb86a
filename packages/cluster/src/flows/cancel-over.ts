/**
 * Cancels a job with what it waits for when some of that is in other partitions.
 *
 * One call cancels what is in the partition of the job, stand-ins among it. Before that call, a
 * job of the queue `sluice.flows` is added that waits for the end of the job and lists the
 * stand-ins. When it runs, it cancels the message of each stand-in that has ended, with what that
 * message waits for, and so on. The list is in the log before anything is cancelled, so the rest
 * follows after a crash. What another job waits for is left alone, in each partition as in one.
 */
import {
  BATCH_MAX,
  type Broker,
  type DependencyInfo,
  hasEnded,
  type JobState,
  type NewJob,
  SluiceError,
  toSluiceError,
  walkPages,
} from "@sluice/protocol";
import { cancels, LINKS, type Link, linkJobOf, message, withLinks } from "./link-jobs.ts";

/** A stand-in that may be cancelled with the job, and the job that it stands for. */
export interface ListedLink extends Link {
  readonly standIn: string;
}

/** Jobs that are looked at together. */
const AT_ONCE = 64;

/** Notes at the partition of a job what to cancel in others once the job has been cancelled. */
export async function noteCancel(port: Broker, id: string): Promise<void> {
  const links = await new Walk(port).from(id);
  if (links.length === 0) return;
  const payload = new TextEncoder().encode(JSON.stringify(links));
  const [outcome] = await port.add(LINKS, [cancels(id, payload)]);
  if (outcome!.error !== undefined) throw SluiceError.fromJSON(outcome!.error);
}

export function listedIn(payload: Uint8Array): ListedLink[] {
  return JSON.parse(new TextDecoder().decode(payload));
}

/** Whether a stand-in has ended; one that others wait for was not cancelled. */
export async function isOver(port: Broker, { standIn }: ListedLink): Promise<boolean> {
  const state = await stateOf(port, standIn);
  return state === undefined || hasEnded(state);
}

/** Cancels the message of a stand-in, with the job that it waits for if no other job does. */
export async function cancelMessage(port: Broker, { standIn, ...link }: ListedLink): Promise<void> {
  const id = await messageOf(port, message(link, standIn));
  if (id === undefined) return;
  await noteCancel(port, id);
  const [outcome] = await port.cancel([id], { dependencies: true });
  if (outcome!.error !== undefined) throw SluiceError.fromJSON(outcome!.error);
}

/** Its dedupe key finds the message; undefined: the job that it waits for is not kept any more. */
async function messageOf(port: Broker, job: NewJob): Promise<string | undefined> {
  const [outcome] = await withLinks(port, () => port.add(LINKS, [job]));
  const { ok, error } = outcome!;
  if (error === undefined) return ok!.id;
  if (error.code === "JOB_NOT_FOUND") return undefined;
  throw SluiceError.fromJSON(error);
}

async function stateOf(port: Broker, id: string): Promise<JobState | undefined> {
  return port.job(id).then(({ state }) => state, ignoreGone);
}

/** The job is not kept any more, or what it waited for. */
const GONE: ReadonlySet<string> = new Set(["JOB_NOT_FOUND", "ALREADY_FINISHED"]);

function ignoreGone(error: unknown): undefined {
  if (!GONE.has(toSluiceError(error).code)) throw error;
}

/** Finds the stand-ins that a job waits for, by way of any jobs of its partition. */
class Walk {
  readonly #port: Broker;
  readonly #seen = new Set<string>();
  /** The same, in the order in which they were found. */
  readonly #found: string[] = [];
  readonly #links: ListedLink[] = [];

  constructor(port: Broker) {
    this.#port = port;
  }

  async from(id: string): Promise<readonly ListedLink[]> {
    this.#find(id);
    for (let at = 0; at < this.#found.length; ) {
      const some = this.#found.slice(at, at + AT_ONCE);
      at += some.length;
      await Promise.all(some.map((one) => this.#look(one)));
      if (this.#found.length > BATCH_MAX) throw tooMany(id);
    }
    return this.#links;
  }

  #find(id: string): void {
    this.#seen.add(id);
    this.#found.push(id);
  }

  async #look(id: string): Promise<void> {
    try {
      const pages = walkPages((from) => this.#port.dependencies(id, from));
      for await (const info of pages) await this.#add(info);
    } catch (error) {
      ignoreGone(error);
    }
  }

  async #add({ id, queue, state }: DependencyInfo): Promise<void> {
    if (this.#seen.has(id) || hasEnded(state)) return;
    this.#find(id);
    if (queue !== LINKS) return;
    const job = await this.#port.job(id).catch(ignoreGone);
    const link = job === undefined ? undefined : linkJobOf(job.headers);
    // The seal of a flow is a job of all of its jobs.
    if (link?.kind !== "stand-in" || link.isSeal === true) return;
    this.#links.push({ standIn: id, of: link.of, on: link.on });
  }
}

function tooMany(id: string): SluiceError {
  const message =
    `job ${id} waits for more than ${BATCH_MAX} jobs: ` +
    "cancel it, and then those that it waits for, by pages of `dependencies`";
  return new SluiceError("LIMIT_REACHED", message, { field: "id", value: id });
}
