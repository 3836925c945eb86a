/**
 * A partition as all others see it: a broker whose jobs and leases carry the number of the
 * partition. A call that names a job of another partition is refused here.
 *
 * To its users a partition that moves is a connection that broke: they repeat unanswered calls at
 * the next owner, which knows what was done. So the last errors of a broker that was closed, or has
 * lost its log, are no answers. They go to the owner of the partition, which cuts the connections.
 */
import type { LendAnswer, LendRequest } from "@sluice/broker";
import {
  type Added,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  type CallName,
  type CallOptions,
  type CallRow,
  type ConsumeOptions,
  type Consumer,
  callsOf,
  type Deliver,
  defineCalls,
  type EventFilter,
  type LeasedJob,
  type LeaseOptions,
  type NewJob,
  type Outcome,
  type RedriveOptions,
  SluiceError,
  type StatsOptions,
  toSluiceError,
  type Why,
} from "@sluice/protocol";
import { innerName } from "./names.ts";
import { unknownJob, unknownLease } from "./refuse.ts";
import { Rename } from "./rename.ts";
import { RenamedEvents } from "./renamed-events.ts";

/** The calls whose answers differ from what a row can say. */
type Own = "add" | "why" | "stats" | "redrive";

type Calls = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** No broker has a job of this name: it refuses the item, in its place. */
const NO_NAME = "";

const GONE: ReadonlySet<string> = new Set(["CLOSED", "LOG_FAILED"]);

export class PartitionPort extends callsOf<Exclude<CallName, Own>>() implements Broker {
  readonly partition: number;
  readonly #broker: Broker;
  readonly #rename: Rename;
  readonly #onGone: (error: SluiceError) => void;

  static {
    defineCalls(PartitionPort, (name, row) => {
      if (row.jobs === "id") return (self, args) => self.#ofJob(name, row, args);
      if (row.jobs !== undefined) return (self, args) => self.#ofBatch(name, row, args);
      if (row.ids === undefined) return (self, args) => self.#make(name, args);
      return async (self, args) => self.#rename.answer(row.ids, await self.#make(name, args));
    });
  }

  /** `onGone` gets the last error of a broker that has ended; its callers get no answer. */
  constructor(partition: number, broker: Broker, onGone: (error: SluiceError) => void) {
    super();
    this.partition = partition;
    this.#broker = broker;
    this.#rename = new Rename(partition);
    this.#onGone = onGone;
  }

  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent> {
    return new RenamedEvents(this.#broker.events(filter), (event) => this.#rename.event(event));
  }

  close(): Promise<void> {
    return this.#broker.close();
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options?: AddOptions,
  ): Promise<Outcome<Added>[]> {
    const outcomes = await this.#answered(this.#broker.add(queue, jobs, options));
    return outcomes.map((outcome) =>
      outcome.ok === undefined ? outcome : { ok: this.#rename.withId(outcome.ok) },
    );
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    return this.#rename.leased(await this.#answered(this.#broker.lease(queue, options)));
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    const renamed: Deliver = (jobs) => deliver(this.#rename.leased(jobs));
    const consumer = await this.#answered(this.#broker.consume(queue, options, renamed));
    return {
      addCredits: (count) => consumer.addCredits(count),
      stop: () => consumer.stop(),
      // A consumer whose broker has ended is not over: it joins again elsewhere.
      over: consumer.over.then(() => this.#unlessGone()),
    };
  }

  async #unlessGone(): Promise<void> {
    try {
      await this.#answered(this.#broker.queuesOf([]));
    } catch {
      await new Promise<never>(() => {});
    }
  }

  async why(id: string, options?: CallOptions): Promise<Why> {
    return this.#rename.why((await this.#ofJob("why", NO_IDS, [id, options])) as Why);
  }

  async stats(options?: StatsOptions): Promise<BrokerStats> {
    return this.#rename.stats(await this.#answered(this.#broker.stats(options)));
  }

  redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    const { ids } = options;
    const own = Array.isArray(ids) ? { ids: ids.map((id) => this.#inner(id)) } : {};
    return this.#answered(this.#broker.redrive(queue, { ...options, ...own }));
  }

  /** Another partition asks for permits of gates that are at home here. */
  lend(request: LendRequest): Promise<LendAnswer> {
    return this.#make("lend", [request]) as Promise<LendAnswer>;
  }

  #make(name: string, args: readonly unknown[]): Promise<unknown> {
    return this.#answered((this.#broker as unknown as Calls)[name]!(...args));
  }

  async #answered<T>(call: Promise<T>): Promise<T> {
    let last: unknown;
    try {
      const answer = await call;
      // An item of a batch may have been refused for the same reason.
      last = Array.isArray(answer) ? answer.find(isLast)?.error : undefined;
      if (last === undefined) return answer;
    } catch (error) {
      if (!GONE.has(toSluiceError(error).code)) throw error;
      last = error;
    }
    this.#onGone(toSluiceError(last));
    return new Promise<never>(() => {});
  }

  #inner(name: unknown): string {
    return innerName(this.partition, name) ?? NO_NAME;
  }

  async #ofJob(
    name: CallName,
    { ids }: Pick<CallRow, "ids">,
    [id, ...rest]: readonly unknown[],
  ): Promise<unknown> {
    const inner = this.#inner(id);
    if (inner === NO_NAME) throw SluiceError.fromJSON(unknownJob(id));
    try {
      return this.#rename.answer(ids, await this.#make(name, [inner, ...rest]));
    } catch (error) {
      throw SluiceError.fromJSON(this.#rename.error(toSluiceError(error).toJSON(), inner));
    }
  }

  /** Items of other partitions are refused in their places; the broker refuses what is no list. */
  async #ofBatch(name: CallName, row: CallRow, args: readonly unknown[]): Promise<unknown> {
    const [items, ...rest] = args;
    if (!Array.isArray(items)) return this.#make(name, args);
    const isOfItems = row.jobs === "items";
    const names: unknown[] = isOfItems ? items.map((item) => item?.lease) : items;
    const inner = names.map((one) => this.#inner(one));
    const own = isOfItems ? items.map((item, i) => ({ ...item, lease: inner[i] })) : inner;
    const answer = (await this.#make(name, [own, ...rest])) as Outcome<unknown>[];
    // In a list with holes a job of another partition is one of them.
    if (row.hasHoles) return answer;
    const refusal = row.jobs === "ids" ? unknownJob : unknownLease;
    return answer.map((outcome, i) =>
      inner[i] === NO_NAME
        ? { error: refusal(names[i]) }
        : this.#rename.outcome(outcome, inner[i]!),
    );
  }
}

const NO_IDS = { ids: undefined };

function isLast(item: Partial<Outcome<unknown>> | undefined): boolean {
  return item?.error !== undefined && GONE.has(item.error.code);
}
