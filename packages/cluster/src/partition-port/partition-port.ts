/**
 * A partition as all others see it: a broker whose jobs and leases carry the number of the
 * partition. A call that names a job of another partition is refused here.
 *
 * To its users a partition that moves is a connection that broke: they repeat unanswered calls at
 * the next owner, which knows what was done. So the last errors of a broker that was closed, or has
 * lost its log, are no answers. They go to the owner of the partition, and unanswered calls fail
 * with the error with which the port is left.
 */
import type { LendAnswer, LendRequest } from "@sluice/broker";
import {
  type Added,
  type AddFlowOptions,
  type AddOptions,
  type After,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  type CallName,
  type CallOptions,
  type CallRow,
  type ConsumeOptions,
  type Consumer,
  type CountOptions,
  callsOf,
  type Deliver,
  defineCalls,
  type EventFilter,
  type FindOptions,
  type FlowAdded,
  type FlowJob,
  type FlowPlace,
  type FoundJobs,
  isKnownAdd,
  type JobCounts,
  type JobFilter,
  type LeasedJob,
  type LeaseOptions,
  type NewJob,
  type OperationOptions,
  type Outcome,
  type QueueInfo,
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
type Own =
  | ("add" | "addFlow" | "openFlow" | "sealFlow" | "cancelFlow" | "why" | "stats" | "redrive")
  | "setQueue"
  | ("findJobs" | "countJobs" | "startBulk");

type Calls = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** No broker has a job of this name: it refuses the item, in its place. */
const NO_NAME = "";

const GONE: ReadonlySet<string> = new Set(["CLOSED", "LOG_FAILED"]);

export class PartitionPort extends callsOf<Exclude<CallName, Own>>() implements Broker {
  readonly partition: number;
  readonly #broker: Broker;
  readonly #rename: Rename;
  readonly #onGone: (error: SluiceError) => void;
  readonly #addRefusal: () => SluiceError | undefined;
  readonly #onQueue: (queue: string) => void;
  /** How each unanswered call fails. */
  readonly #unanswered = new Set<(error: SluiceError) => void>();
  readonly #consumers = new Set<Consumer>();
  readonly #events = new Set<RenamedEvents>();
  /** Ends the calls that wait for something to happen. */
  readonly #waits = new AbortController();
  /** Why every call is refused. */
  #left: SluiceError | undefined = undefined;

  static {
    defineCalls(PartitionPort, (name, row) => {
      if (row.waits) return (self, args) => self.#wait(name, row, args);
      if (row.jobs === "id") return (self, args) => self.#ofJob(name, row, args);
      if (row.jobs !== undefined) return (self, args) => self.#ofBatch(name, row, args);
      if (row.ids === undefined) return (self, args) => self.#make(name, args);
      return (self, args) => self.#plain(name, row, args);
    });
  }

  /**
   * `onGone` gets the last error of a broker that has ended; `addRefusal` says why nothing may be
   * added at the moment; `onQueue` gets the name of a queue that was made or changed.
   */
  constructor(
    partition: number,
    broker: Broker,
    onGone: (error: SluiceError) => void,
    addRefusal: () => SluiceError | undefined = () => undefined,
    onQueue: (queue: string) => void = () => {},
  ) {
    super();
    this.#addRefusal = addRefusal;
    this.#onQueue = onQueue;
    this.partition = partition;
    this.#broker = broker;
    this.#rename = new Rename(partition);
    this.#onGone = onGone;
  }

  /** Fails all unanswered calls, and ends consumers and events. Leases stay. */
  async leave(error: SluiceError): Promise<void> {
    if (this.#left !== undefined) return;
    this.#left = error;
    for (const fail of this.#unanswered) fail(error);
    this.#unanswered.clear();
    this.#waits.abort(error);
    for (const events of this.#events) void events.return();
    await Promise.allSettled([...this.#consumers].map((consumer) => consumer.stop()));
  }

  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent> {
    this.#check();
    const rename = (event: BrokerEvent): BrokerEvent => this.#rename.event(event);
    const onOver = (over: RenamedEvents): void => void this.#events.delete(over);
    const events = new RenamedEvents(this.#broker.events(filter), rename, onOver);
    this.#events.add(events);
    return events;
  }

  close(): Promise<void> {
    return this.#broker.close();
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options?: AddOptions,
  ): Promise<Outcome<Added>[]> {
    await this.#checkRoom(queue, options);
    const own = this.#afterInner(jobs);
    const outcomes = await this.#answered(this.#broker.add(queue, own, options));
    return outcomes.map((outcome) =>
      outcome.ok === undefined ? outcome : { ok: this.#rename.withId(outcome.ok) },
    );
  }

  /** Refuses what may not be added now. A call that was made before has its answer. */
  async #checkRoom(queue: string, { operationId }: OperationOptions = {}): Promise<void> {
    this.#check();
    const refusal = this.#addRefusal();
    if (refusal === undefined) return;
    const isNamed = typeof operationId === "string";
    const known = isNamed && this.#answered(isKnownAdd(this.#broker, queue, operationId));
    if (!(await known)) throw refusal;
  }

  /** Jobs that others wait for, by the names that the broker has for them. */
  #afterInner<J extends { after?: readonly (After | FlowPlace)[] | undefined }>(
    jobs: readonly J[],
  ): readonly J[] {
    if (!Array.isArray(jobs) || !jobs.some((job) => Array.isArray(job?.after))) return jobs;
    const inner = (one: After | FlowPlace): After | FlowPlace =>
      typeof (one as After)?.id === "string" ? { ...one, id: this.#inner((one as After).id) } : one;
    return jobs.map((job: J) =>
      Array.isArray(job?.after) ? { ...job, after: job.after.map(inner) } : job,
    );
  }

  async addFlow(
    queue: string,
    jobs: readonly FlowJob[],
    options: AddFlowOptions = {},
  ): Promise<FlowAdded> {
    await this.#checkRoom(queue, options);
    const { flow } = options;
    const named = flow === undefined ? options : { ...options, flow: this.#innerFlow(flow) };
    const args = [queue, this.#afterInner(jobs), named];
    const added = (await this.#make("addFlow", args)) as FlowAdded;
    return {
      flow: this.#rename.flow(added.flow),
      jobs: added.jobs.map((job) => this.#rename.withId(job)),
    };
  }

  async openFlow(queue: string, options?: OperationOptions): Promise<{ flow: string }> {
    const { flow } = (await this.#make("openFlow", [queue, options])) as { flow: string };
    return { flow: this.#rename.flow(flow) };
  }

  async sealFlow(flow: string, options?: OperationOptions): Promise<void> {
    await this.#make("sealFlow", [this.#innerFlow(flow), options]);
  }

  async cancelFlow(flow: string, options?: OperationOptions): Promise<void> {
    await this.#make("cancelFlow", [this.#innerFlow(flow), options]);
  }

  #innerFlow(flow: string): string {
    const slash = String(flow).indexOf("/");
    return `${String(flow).slice(0, slash + 1)}${this.#inner(String(flow).slice(slash + 1))}`;
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    this.#check();
    const call = this.#broker.lease(queue, this.#waiting(options));
    return this.#rename.leased(await this.#answered(call, (jobs) => this.#giveBack(jobs)));
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    this.#check();
    const call = this.#broker.consume(queue, options, (jobs) => {
      if (this.#left === undefined) deliver(this.#rename.leased(jobs));
      else this.#giveBack(jobs);
    });
    const consumer = await this.#answered(call, (late) => void late.stop().catch(() => {}));
    this.#consumers.add(consumer);
    const over = consumer.over.then(() => this.#ended(consumer));
    return { addCredits: (count) => consumer.addCredits(count), stop: () => consumer.stop(), over };
  }

  /** Whether it ended because its broker did, which its owner must know before its caller. */
  async #ended(consumer: Consumer): Promise<void> {
    this.#consumers.delete(consumer);
    if (this.#left === undefined) await this.queuesOf([]).catch(() => {});
  }

  #giveBack(jobs: readonly LeasedJob[]): void {
    this.#broker.giveBack(jobs.map(({ lease }) => lease)).catch(() => {});
  }

  async why(id: string, options?: CallOptions): Promise<Why> {
    return this.#rename.why((await this.#ofJob("why", NO_IDS, [id, options])) as Why);
  }

  async setQueue(...args: Parameters<Broker["setQueue"]>): Promise<QueueInfo> {
    const info = (await this.#make("setQueue", args)) as QueueInfo;
    this.#onQueue(args[0]);
    return info;
  }

  async stats(options?: StatsOptions): Promise<BrokerStats> {
    return this.#rename.stats((await this.#make("stats", [options])) as BrokerStats);
  }

  async findJobs(options: FindOptions = {}): Promise<FoundJobs> {
    const found = await this.#make("findJobs", [this.#ofFilter(options)]);
    return this.#rename.answer("items", found) as FoundJobs;
  }

  countJobs(options: CountOptions = {}): Promise<JobCounts> {
    return this.#make("countJobs", [this.#ofFilter(options)]) as Promise<JobCounts>;
  }

  startBulk(action: BulkAction, filter: JobFilter, options?: BulkOptions): Promise<BulkInfo> {
    return this.#make("startBulk", [action, this.#ofFilter(filter), options]) as Promise<BulkInfo>;
  }

  /** Jobs of other partitions are not meant here. */
  #ofFilter<F extends JobFilter>(filter: F): F {
    const { ids } = filter;
    return Array.isArray(ids) ? { ...filter, ids: ids.map((id) => this.#inner(id)) } : filter;
  }

  redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    const { ids } = options;
    const own = Array.isArray(ids) ? { ids: ids.map((id) => this.#inner(id)) } : {};
    return this.#make("redrive", [queue, { ...options, ...own }]) as Promise<number>;
  }

  /** Another partition asks for permits of gates that are at home here. */
  lend(request: LendRequest): Promise<LendAnswer> {
    return this.#make("lend", [request]) as Promise<LendAnswer>;
  }

  async #make(name: string, args: readonly unknown[]): Promise<unknown> {
    this.#check();
    return this.#answered((this.#broker as unknown as Calls)[name]!(...args));
  }

  #check(): void {
    if (this.#left !== undefined) throw this.#left;
  }

  #wait(name: CallName, row: CallRow, args: readonly unknown[]): Promise<unknown> {
    const at = row.args.length;
    const own = [...args.slice(0, at), this.#waiting(args[at] as CallOptions)];
    return row.jobs === "id" ? this.#ofJob(name, row, own) : this.#plain(name, row, own);
  }

  async #plain(name: CallName, { ids }: CallRow, args: readonly unknown[]): Promise<unknown> {
    return this.#rename.answer(ids, await this.#make(name, args));
  }

  #waiting<O extends CallOptions>(options: O): O {
    const signals = [options?.signal ?? [], this.#waits.signal].flat();
    return { ...options, signal: AbortSignal.any(signals) };
  }

  /** The answer, unless the port is left before; `undo` gets an answer that comes too late. */
  #answered<T>(call: Promise<T>, undo?: (answer: T) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#unanswered.add(reject);
    const isLate = (): boolean => !this.#unanswered.delete(reject);
    const fail = (cause: unknown): void => {
      const error = toSluiceError(cause);
      reject(GONE.has(error.code) ? this.#gone(error) : error);
    };
    call.then(
      (answer) => {
        if (isLate()) return undo?.(answer);
        // An item of a batch may have been refused because the broker has ended.
        const last = Array.isArray(answer) ? answer.find(isLast) : undefined;
        return last === undefined ? resolve(answer) : fail(SluiceError.fromJSON(last.error));
      },
      (error) => {
        if (!isLate()) fail(error);
      },
    );
    return promise;
  }

  /** The owner leaves this port when it hears that the broker has ended. */
  #gone(error: SluiceError): SluiceError {
    this.#onGone(error);
    return this.#left ?? error;
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
