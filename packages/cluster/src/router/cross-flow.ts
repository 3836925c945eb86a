/**
 * A flow over several partitions.
 *
 * Its home is the partition of the queue that it is added under. There it is an open flow with one
 * job more, its seal; in the other partitions its jobs wait for that job too, by a stand-in. So the
 * seal of the home, one durable fact, is what lets the whole flow run, and its cancellation what
 * cancels it, also ten minutes after a crash in the middle of an add.
 *
 * Jobs are added in rounds: a job that waits for one in another partition follows a round later,
 * when that one has an id.
 */
import {
  type Added,
  type AddFlowOptions,
  type After,
  type FlowAdded,
  type FlowAfter,
  type FlowJob,
  invalid,
  orderFlow,
  partOfOperation,
  toSluiceError,
} from "@sluice/protocol";
import { type FlowLinks, keyOf, linkTo, thrown } from "../flows/flow-links.ts";
import { LINKS, type Link, seal, withLinks } from "../flows/link-jobs.ts";
import { FLOW_HOPS_MAX } from "../limits.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import type { QueueCopies } from "./queue-copies.ts";

const UNANSWERED: ReadonlySet<string> = new Set([
  ...["DISCONNECTED", "UNAVAILABLE", "TIMEOUT", "MOVED", "CLOSED", "ABORTED"],
  ...["LOG_FAILED", "LOG_DAMAGED", "LOG_VERSION"],
]);

export interface CrossFlowParts {
  readonly calls: PartitionCalls;
  readonly copies: QueueCopies;
  readonly links: FlowLinks;
}

export interface CrossFlowOptions extends AddFlowOptions {
  readonly operationId: string;
}

export class CrossFlow {
  readonly #of: CrossFlowParts;
  readonly #queue: string;
  readonly #home: number;
  readonly #jobs: readonly FlowJob[];
  readonly #options: CrossFlowOptions;
  /** The partition of each job. */
  readonly #partitions: readonly number[];
  readonly #added: Added[] = [];
  /** The stand-in of the flow's seal in each partition but the home. */
  readonly #seals = new Map<number, string>();

  constructor(
    of: CrossFlowParts,
    flow: { queue: string; home: number; jobs: readonly FlowJob[]; partitions: readonly number[] },
    options: CrossFlowOptions,
  ) {
    this.#of = of;
    this.#queue = flow.queue;
    this.#home = flow.home;
    this.#jobs = flow.jobs;
    this.#partitions = flow.partitions;
    this.#options = options;
  }

  async add(): Promise<FlowAdded> {
    const { flow: given } = this.#options;
    const rounds = this.#rounds();
    const flow = given ?? (await this.#open());
    try {
      await this.#addSeal(flow);
      for (const [i, round] of rounds.entries()) await this.#addRound(flow, i, round);
      if (given === undefined) await this.#close("sealFlow", flow);
    } catch (error) {
      // What there is of it is cancelled with its home, in all partitions. After a call without an
      // answer the caller may repeat all of it under its id, which continues here.
      const isRefused = !UNANSWERED.has(toSluiceError(error).code);
      if (given === undefined && isRefused) await this.#close("cancelFlow", flow).catch(() => {});
      throw error;
    }
    return { flow, jobs: this.#added };
  }

  /** The jobs by their rounds: those that wait for no job of another partition come first. */
  #rounds(): number[][] {
    const roundOf: number[] = [];
    const rounds: number[][] = [];
    for (const at of orderFlow(this.#jobs)) {
      let round = 0;
      for (const { job } of placesIn(this.#jobs[at]!)) {
        const hop = this.#partitions[job] === this.#partitions[at] ? 0 : 1;
        round = Math.max(round, roundOf[job]! + hop);
      }
      if (round > FLOW_HOPS_MAX) {
        const most = `a flow that changes partition at most ${FLOW_HOPS_MAX} times on a path`;
        throw invalid("jobs", `${most}; use one queue for long chains`, round);
      }
      roundOf[at] = round;
      const own = rounds[round] ?? [];
      rounds[round] = own;
      own.push(at);
    }
    return rounds;
  }

  async #open(): Promise<string> {
    const options = { operationId: this.#part("open") };
    const { flow } = await this.#of.copies.made(this.#queue, this.#home, (port) =>
      port.openFlow(this.#queue, options),
    );
    return flow;
  }

  async #close(how: "sealFlow" | "cancelFlow", flow: string): Promise<void> {
    const options = { operationId: this.#part(how) };
    await this.#of.calls.make(this.#home, (port) => port[how](flow, options));
  }

  /** Adds the seal to the flow, and a stand-in for it to each partition but the home. */
  async #addSeal(flow: string): Promise<void> {
    const { calls, links } = this.#of;
    const others = new Set(this.#partitions.filter((partition) => partition !== this.#home));
    if (others.size === 0) return;
    await links.place([this.#home]);
    const options = { flow, operationId: this.#part("seal") };
    const { jobs } = await calls.make(this.#home, (port) =>
      withLinks(port, () => port.addFlow(LINKS, [{ queue: LINKS, ...seal() }], options)),
    );
    const link: Link = { of: jobs[0]!.id, on: "fail", isSeal: true };
    await Promise.all(
      [...others].map(async (partition) => {
        const made = await links.make(partition, new Map([["seal", link]]), options.operationId);
        const { ok, error } = made.get("seal")!;
        if (ok === undefined) throw thrown(error!);
        this.#seals.set(partition, ok);
      }),
    );
  }

  async #addRound(flow: string, round: number, jobs: readonly number[]): Promise<void> {
    const byPartition = Map.groupBy(jobs, (at) => this.#partitions[at]!);
    await Promise.all(
      [...byPartition].map(([partition, own]) => this.#addShare(flow, round, partition, own)),
    );
  }

  /** The jobs of a round in one partition, which are one call there. */
  async #addShare(
    flow: string,
    round: number,
    partition: number,
    places: readonly number[],
  ): Promise<void> {
    const { copies, links } = this.#of;
    const operationId = this.#part(`${round}.${partition}`);
    const placeOf = new Map(places.map((at, i) => [at, i]));
    const wanted = new Map<string, Link>();
    for (const at of places) {
      for (const one of this.#jobs[at]!.after ?? []) {
        const after = this.#named(one, placeOf);
        if (after.id === undefined || !links.isElsewhere(partition, after.id)) continue;
        const link = linkTo(after as After);
        wanted.set(keyOf(link), link);
      }
    }
    const standIns = await links.make(partition, wanted, operationId);
    const refused = [...standIns.values()].find(({ error }) => error !== undefined);
    if (refused !== undefined) throw thrown(refused.error!);
    const seal = this.#seals.get(partition);
    const own = places.map((at): FlowJob => {
      const after = (this.#jobs[at]!.after ?? []).map((one): FlowAfter => {
        const named = this.#named(one, placeOf);
        const ok = named.id === undefined ? undefined : standIns.get(keyOf(linkTo(named as After)));
        return ok?.ok === undefined ? named : { ...(named as After), id: ok.ok };
      });
      return { ...this.#jobs[at]!, after: seal === undefined ? after : [{ id: seal }, ...after] };
    });
    const under = partition === this.#home ? this.#queue : own[0]!.queue;
    const options = partition === this.#home ? { flow, operationId } : { operationId };
    const { jobs } = await copies.made(under, partition, (port) =>
      port.addFlow(under, own, options),
    );
    for (const [i, at] of places.entries()) this.#added[at] = jobs[i]!;
  }

  #part(name: string): string {
    return partOfOperation(this.#options.operationId, name);
  }

  /** A job of the same call by its place there, any other by its id. */
  #named(one: FlowAfter, placeOf: ReadonlyMap<number, number>): FlowAfter & { id?: string } {
    if (!("job" in one) || one.job === undefined) return one as After;
    const { job, ...rest } = one;
    const place = placeOf.get(job);
    return place === undefined ? { ...rest, id: this.#added[job]!.id } : { ...rest, job: place };
  }
}

function placesIn({ after }: FlowJob): { job: number }[] {
  return (after ?? []).filter((one) => "job" in one && one.job !== undefined) as { job: number }[];
}
