/**
 * A partition as all others see it: a broker whose jobs and leases carry the number of the
 * partition. Whatever names a job of another partition is refused, and never reaches the broker.
 */
import type { LendAnswer, LendRequest } from "@sluice/broker";
import {
  type Ack,
  type Added,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  type ConsumeOptions,
  type Consumer,
  type DeleteQueueOptions,
  type Deliver,
  type EventFilter,
  type Extend,
  type FairnessKey,
  type GateConfig,
  type GateInfo,
  type GatesOptions,
  type GatesPage,
  type GroupInfo,
  type HistoryEntry,
  type JobEnd,
  type JobInfo,
  type JobsOptions,
  type LaneStats,
  type LanesOptions,
  type LeasedJob,
  type LeaseOptions,
  type Nack,
  type NewJob,
  type OperationOptions,
  type Outcome,
  type Page,
  type Progress,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type RedriveOptions,
  type ScanOptions,
  SluiceError,
  type StatsOptions,
  type StoreEntry,
  toSluiceError,
  type Why,
  type WorkerInfo,
} from "@sluice/protocol";
import { innerName } from "./names.ts";
import { unknownJob, unknownLease } from "./refuse.ts";
import { Rename } from "./rename.ts";
import { RenamedEvents } from "./renamed-events.ts";
import { silentWhenGone } from "./silent-when-gone.ts";

interface Signalled {
  signal?: AbortSignal | undefined;
}

/** A broker that shares its gates with other partitions. */
interface Lends {
  lend(request: LendRequest): Promise<LendAnswer>;
}

/** What no broker takes for a name: it refuses the item, in its place. */
const NOBODY = "";

export class PartitionPort implements Broker {
  readonly partition: number;
  readonly #broker: Broker;
  readonly #rename: Rename;

  /** With `onGone` nobody hears that the broker has ended: see `silentWhenGone`. */
  constructor(partition: number, broker: Broker, onGone?: (error: SluiceError) => void) {
    this.partition = partition;
    this.#broker = onGone === undefined ? broker : silentWhenGone(broker, onGone);
    this.#rename = new Rename(partition);
  }

  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent> {
    return new RenamedEvents(this.#broker.events(filter), (event) => this.#rename.event(event));
  }

  async stats(options?: StatsOptions): Promise<BrokerStats> {
    return this.#rename.stats(await this.#broker.stats(options));
  }

  close(): Promise<void> {
    return this.#broker.close();
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options?: AddOptions,
  ): Promise<Outcome<Added>[]> {
    const outcomes = await this.#broker.add(queue, jobs, options);
    return outcomes.map((outcome) =>
      outcome.ok === undefined ? outcome : { ok: this.#rename.withId(outcome.ok) },
    );
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    return this.#rename.leased(await this.#broker.lease(queue, options));
  }

  consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    return this.#broker.consume(queue, options, (jobs) => deliver(this.#rename.leased(jobs)));
  }

  ack(items: readonly Ack[], options?: OperationOptions): Promise<Outcome<true>[]> {
    return this.#ofLeases(items, (inner) => this.#broker.ack(inner, options));
  }

  nack(items: readonly Nack[], options?: OperationOptions): Promise<Outcome<true | number>[]> {
    return this.#ofLeases(items, (inner) => this.#broker.nack(inner, options));
  }

  giveBack(leases: readonly string[]): Promise<Outcome<true>[]> {
    return this.#ofNames(leases, unknownLease, (inner) => this.#broker.giveBack(inner));
  }

  extend(items: readonly Extend[]): Promise<Outcome<number>[]> {
    return this.#ofLeases(items, (inner) => this.#broker.extend(inner));
  }

  progress(items: readonly Progress[]): Promise<Outcome<true>[]> {
    return this.#ofLeases(items, (inner) => this.#broker.progress(inner));
  }

  cancel(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    return this.#ofNames(ids, unknownJob, (inner) => this.#broker.cancel(inner));
  }

  cancelByKey(
    queue: string,
    keys: readonly string[],
    options?: OperationOptions,
  ): Promise<Outcome<boolean>[]> {
    return this.#broker.cancelByKey(queue, keys, options);
  }

  retry(ids: readonly string[], options?: OperationOptions): Promise<Outcome<true>[]> {
    return this.#ofNames(ids, unknownJob, (inner) => this.#broker.retry(inner, options));
  }

  async job(id: string): Promise<JobInfo> {
    return this.#rename.withId(await this.#ofJob(id, (inner) => this.#broker.job(inner)));
  }

  async why(id: string): Promise<Why> {
    return this.#rename.why(await this.#ofJob(id, (inner) => this.#broker.why(inner)));
  }

  history(id: string): Promise<readonly HistoryEntry[]> {
    return this.#ofJob(id, (inner) => this.#broker.history(inner));
  }

  queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    return this.#broker.queuesOf(Array.isArray(ids) ? ids.map((id) => this.#inner(id)) : ids);
  }

  async ended(id: string, options?: Signalled): Promise<JobEnd> {
    return this.#rename.withId(
      await this.#ofJob(id, (inner) => this.#broker.ended(inner, options)),
    );
  }

  async jobs(queue: string, options?: JobsOptions): Promise<Page<JobInfo>> {
    const page = await this.#broker.jobs(queue, options);
    return { ...page, items: page.items.map((job) => this.#rename.withId(job)) };
  }

  async group(group: string): Promise<GroupInfo> {
    return this.#rename.group(await this.#broker.group(group));
  }

  async groupEnded(group: string, options?: Signalled): Promise<GroupInfo> {
    return this.#rename.group(await this.#broker.groupEnded(group, options));
  }

  releaseGroups(groups: readonly string[]): Promise<void> {
    return this.#broker.releaseGroups(groups);
  }

  setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    return this.#broker.setQueue(queue, options);
  }

  deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted> {
    return this.#broker.deleteQueue(queue, options);
  }

  queue(queue: string): Promise<QueueInfo> {
    return this.#broker.queue(queue);
  }

  queues(options?: QueuesOptions): Promise<Page<QueueInfo>> {
    return this.#broker.queues(options);
  }

  purge(queue: string, options?: OperationOptions): Promise<void> {
    return this.#broker.purge(queue, options);
  }

  redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    const { ids } = options;
    if (!Array.isArray(ids)) return this.#broker.redrive(queue, options);
    return this.#broker.redrive(queue, { ...options, ids: ids.map((id) => this.#inner(id)) });
  }

  lanes(queue: string, options?: LanesOptions): Promise<Page<LaneStats>> {
    return this.#broker.lanes(queue, options);
  }

  setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    return this.#broker.setLaneWeight(queue, key, weight);
  }

  workers(queue: string): Promise<readonly WorkerInfo[]> {
    return this.#broker.workers(queue);
  }

  setGate(key: string, config: GateConfig): Promise<GateInfo> {
    return this.#broker.setGate(key, config);
  }

  deleteGate(key: string): Promise<void> {
    return this.#broker.deleteGate(key);
  }

  gate(key: string): Promise<GateInfo> {
    return this.#broker.gate(key);
  }

  gates(options?: GatesOptions): Promise<GatesPage> {
    return this.#broker.gates(options);
  }

  cooldown(key: string, ms: number, reason?: string): Promise<void> {
    return this.#broker.cooldown(key, ms, reason);
  }

  clearCooldown(key: string): Promise<void> {
    return this.#broker.clearCooldown(key);
  }

  reportGate(key: string, ok: boolean, options?: OperationOptions): Promise<void> {
    return this.#broker.reportGate(key, ok, options);
  }

  storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    return this.#broker.storeGet(store, keys);
  }

  storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options?: OperationOptions,
  ): Promise<void> {
    return this.#broker.storeWrite(store, entries, options);
  }

  storeScan(store: string, options?: ScanOptions): Promise<Page<StoreEntry>> {
    return this.#broker.storeScan(store, options);
  }

  /** Another partition asks for permits of gates that are at home here. */
  lend(request: LendRequest): Promise<LendAnswer> {
    return (this.#broker as unknown as Lends).lend(request);
  }

  #inner(name: unknown): string {
    return innerName(this.partition, name) ?? NOBODY;
  }

  async #ofJob<T>(id: string, call: (inner: string) => Promise<T>): Promise<T> {
    const inner = this.#inner(id);
    if (inner === NOBODY) throw SluiceError.fromJSON(unknownJob(id));
    try {
      return await call(inner);
    } catch (error) {
      throw SluiceError.fromJSON(this.#rename.error(toSluiceError(error).toJSON(), inner));
    }
  }

  async #ofNames<T>(
    names: readonly string[],
    refusal: typeof unknownJob,
    call: (inner: readonly string[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    // What is no list the broker refuses itself.
    const inner = Array.isArray(names) ? names.map((name) => this.#inner(name)) : names;
    const outcomes = await call(inner);
    return outcomes.map((outcome, i) =>
      inner[i] === NOBODY ? { error: refusal(names[i]) } : this.#rename.outcome(outcome, inner[i]!),
    );
  }

  async #ofLeases<I extends { lease: string }, T>(
    items: readonly I[],
    call: (inner: readonly I[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    const inner = Array.isArray(items)
      ? items.map((item: I) => ({ ...item, lease: this.#inner(item?.lease) }))
      : items;
    const outcomes = await call(inner);
    return outcomes.map((outcome, i) =>
      inner[i]!.lease === NOBODY
        ? { error: unknownLease(items[i]?.lease) }
        : this.#rename.outcome(outcome, inner[i]!.lease),
    );
  }
}
