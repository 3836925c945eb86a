/** Makes stand-ins for jobs of other partitions, before the jobs that wait for them are added. */
import {
  type Added,
  type After,
  type Broker,
  type ErrorJson,
  type NewJob,
  type Outcome,
  partOfOperation,
  SluiceError,
} from "@sluice/protocol";
import { partitionOf } from "../partition-port/names.ts";
import type { PartitionCalls } from "../router/partition-calls.ts";
import { LINKS, type Link, message, standIn, withLinks } from "./link-jobs.ts";

/** Jobs that wait for stand-ins instead of jobs of other partitions. */
export interface Localised {
  readonly jobs: readonly NewJob[];
  /** Jobs that wait for one that is not there. */
  readonly refused: ReadonlyMap<number, ErrorJson>;
}

const NONE: ReadonlyMap<number, ErrorJson> = new Map();

export class FlowLinks {
  readonly #calls: PartitionCalls;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  /** Whether a job that is waited for is in a partition of the cluster that is not this one. */
  isElsewhere(partition: number, id: unknown): boolean {
    const own = partitionOf(id);
    return own !== partition && this.#calls.isThere(own);
  }

  /** Jobs of one add, each with the partition that it goes to. */
  async localised(
    jobs: readonly NewJob[],
    partitionOfJob: (job: NewJob) => number,
    operationId: string,
  ): Promise<Localised> {
    if (!Array.isArray(jobs)) return { jobs, refused: NONE };
    const wanted = new Map<number, Map<string, Link>>();
    for (const job of jobs as readonly NewJob[]) this.#collect(job, partitionOfJob, wanted);
    if (wanted.size === 0) return { jobs, refused: NONE };
    const made = new Map<number, ReadonlyMap<string, Outcome<string>>>();
    await Promise.all(
      [...wanted].map(async ([partition, links]) => {
        made.set(partition, await this.make(partition, links, operationId));
      }),
    );
    const refused = new Map<number, ErrorJson>();
    const own = (jobs as readonly NewJob[]).map((job, i) => {
      if (!Array.isArray(job?.after)) return job;
      const links = made.get(partitionOfJob(job));
      const after = (job.after as readonly After[]).map((one) => {
        const outcome = links?.get(keyOf(linkTo(one)));
        if (outcome?.error !== undefined) refused.set(i, outcome.error);
        return outcome?.ok === undefined ? one : { ...one, id: outcome.ok };
      });
      return { ...job, after };
    });
    return { jobs: own, refused };
  }

  #collect(
    job: NewJob,
    partitionOfJob: (job: NewJob) => number,
    wanted: Map<number, Map<string, Link>>,
  ): void {
    if (!Array.isArray(job?.after)) return;
    const partition = partitionOfJob(job);
    for (const one of job.after as readonly After[]) {
      if (!this.isElsewhere(partition, one?.id)) continue;
      const links = wanted.get(partition) ?? new Map<string, Link>();
      wanted.set(partition, links);
      const link = linkTo(one);
      links.set(keyOf(link), link);
    }
  }

  /** Makes a stand-in in a partition for each of these, and its message. Answers their ids. */
  async make(
    partition: number,
    links: ReadonlyMap<string, Link>,
    operationId: string,
  ): Promise<Map<string, Outcome<string>>> {
    const made = new Map<string, Outcome<string>>();
    if (links.size === 0) return made;
    const keys = [...links.keys()];
    const all = [...links.values()];
    const id = partOfOperation(operationId, `links.${partition}`);
    const standIns = await this.#add(partition, all.map(standIn), id);
    const messages = new Map<number, { key: string; job: NewJob }[]>();
    for (const [i, key] of keys.entries()) {
      const { ok, error } = standIns[i]!;
      made.set(key, ok === undefined ? { error: error! } : { ok: ok.id });
      if (ok === undefined) continue;
      const link = all[i]!;
      const from = partitionOf(link.of);
      const own = messages.get(from) ?? [];
      messages.set(from, own);
      own.push({ key, job: message(link, ok.id) });
    }
    await Promise.all(
      [...messages].map(([from, own]) => this.#addMessages(partition, from, own, id, made)),
    );
    return made;
  }

  async #addMessages(
    partition: number,
    from: number,
    messages: readonly { key: string; job: NewJob }[],
    operationId: string,
    made: Map<string, Outcome<string>>,
  ): Promise<void> {
    const jobs = messages.map(({ job }) => job);
    const outcomes = await this.#add(from, jobs, partOfOperation(operationId, String(from)));
    const unused: string[] = [];
    for (const [i, { key }] of messages.entries()) {
      const { error } = outcomes[i]!;
      if (error === undefined) continue;
      unused.push(made.get(key)!.ok!);
      made.set(key, { error });
    }
    if (unused.length > 0) await this.#calls.make(partition, (port) => port.cancel(unused));
  }

  async #add(
    partition: number,
    jobs: readonly NewJob[],
    operationId: string,
  ): Promise<Outcome<Added>[]> {
    await this.place([partition]);
    const add = (port: Broker): Promise<Outcome<Added>[]> =>
      withLinks(port, () => port.add(LINKS, jobs, { operationId }));
    return this.#calls.make(partition, add);
  }

  /** The queue is in every partition that needs it. */
  async place(partitions: readonly number[]): Promise<void> {
    const { directory } = this.#calls;
    const placed = directory.isPlaced(LINKS) ? directory.placementOf(LINKS) : [];
    const more = partitions.filter((one) => !placed.includes(one));
    if (more.length > 0) await directory.place(LINKS, more);
  }
}

export function linkTo({ id, onDependencyFailure = "fail" }: After): Link {
  return { of: id, on: onDependencyFailure };
}

/** Edges that do not differ in what they wait for share a stand-in. */
export function keyOf({ of, on }: Link): string {
  return `${on === "wait" ? "wait" : "end"} ${of}`;
}

export function thrown(error: ErrorJson): SluiceError {
  return SluiceError.fromJSON(error);
}
