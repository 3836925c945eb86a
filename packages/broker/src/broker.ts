import {
  type Ack,
  type Added,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  boundCalls,
  type Clock,
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
  type StatsOptions,
  type StoreEntry,
  type Why,
  type WorkerInfo,
} from "@sluice/protocol";
import { Adder } from "./add.ts";
import { SystemClock } from "./clock.ts";
import { JobDesk } from "./jobs.ts";
import { LaneList } from "./lanes.ts";
import type { LendAnswer, LendRequest } from "./lending/port.ts";
import { OldestJobs } from "./oldest.ts";
import { type OpenOptions, parseOptions } from "./options.ts";
import { Office } from "./queues.ts";
import { Runtime } from "./runtime.ts";
import { type Sizes, sizesOf, statsOf } from "./stats.ts";

/** Opens a broker on a log: what the log says is there again when it resolves. */
export async function openBroker(options: OpenOptions): Promise<LocalBroker> {
  const runtime = new Runtime(
    options.log,
    options.clock ?? new SystemClock(),
    parseOptions(options),
  );
  await runtime.recover();
  return new LocalBroker(runtime);
}

/** The Broker port in this process. */
export class LocalBroker implements Broker {
  readonly #runtime: Runtime;
  readonly #adder: Adder;
  readonly #desk: JobDesk;
  readonly #office: Office;
  readonly #lanes: LaneList;
  readonly #oldest: OldestJobs;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#adder = new Adder(runtime);
    this.#desk = new JobDesk(runtime);
    this.#office = new Office(runtime);
    this.#lanes = new LaneList(runtime);
    this.#oldest = new OldestJobs(runtime);
  }

  get clock(): Clock {
    return this.#runtime.clock;
  }

  /** What is held in memory and in the log, in bytes. */
  sizes(): Sizes {
    return sizesOf(this.#runtime);
  }

  stats(options: StatsOptions = {}): Promise<BrokerStats> {
    return statsOf(this.#runtime, this.#adder.times, this.#oldest, options);
  }

  events(filter: EventFilter = {}): AsyncIterableIterator<BrokerEvent> {
    this.#runtime.check();
    return this.#runtime.feed.read(filter);
  }

  close(): Promise<void> {
    return this.#runtime.close();
  }

  add(queue: string, jobs: readonly NewJob[], options?: AddOptions): Promise<Outcome<Added>[]> {
    return this.#adder.add(queue, jobs, options ?? {});
  }

  lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    return this.#desk.lease(queue, options);
  }

  consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    return this.#desk.consume(queue, options, deliver);
  }

  ack(items: readonly Ack[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    return this.#desk.ack(items, options);
  }

  nack(items: readonly Nack[], options: OperationOptions = {}): Promise<Outcome<true | number>[]> {
    return this.#desk.nack(items, options);
  }

  giveBack(leases: readonly string[]): Promise<Outcome<true>[]> {
    return this.#desk.giveBack(leases);
  }

  extend(items: readonly Extend[]): Promise<Outcome<number>[]> {
    return this.#desk.extend(items);
  }

  progress(items: readonly Progress[]): Promise<Outcome<true>[]> {
    return this.#desk.progress(items);
  }

  cancel(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    return this.#desk.cancel(ids);
  }

  cancelByKey(
    queue: string,
    keys: readonly string[],
    options: OperationOptions = {},
  ): Promise<Outcome<boolean>[]> {
    return this.#desk.cancelByKey(queue, keys, options);
  }

  retry(ids: readonly string[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    return this.#desk.retry(ids, options);
  }

  job(id: string): Promise<JobInfo> {
    return this.#desk.job(id);
  }

  why(id: string): Promise<Why> {
    return this.#desk.why(id);
  }

  history(id: string): Promise<readonly HistoryEntry[]> {
    return this.#desk.history(id);
  }

  queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    return this.#desk.queuesOf(ids);
  }

  ended(id: string, options: { signal?: AbortSignal | undefined } = {}): Promise<JobEnd> {
    return this.#desk.ended(id, options.signal);
  }

  jobs(queue: string, options: JobsOptions = {}): Promise<Page<JobInfo>> {
    return this.#desk.jobs(queue, options);
  }

  group(group: string): Promise<GroupInfo> {
    return this.#desk.group(group);
  }

  groupEnded(
    group: string,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<GroupInfo> {
    return this.#desk.groupEnded(group, options.signal);
  }

  releaseGroups(groups: readonly string[]): Promise<void> {
    return this.#desk.releaseGroups(groups);
  }

  setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    return this.#office.setQueue(queue, options);
  }

  deleteQueue(queue: string, options: DeleteQueueOptions = {}): Promise<QueueDeleted> {
    return this.#office.deleteQueue(queue, options);
  }

  queue(queue: string): Promise<QueueInfo> {
    return this.#office.queue(queue);
  }

  queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    return this.#office.queues(options);
  }

  purge(queue: string, options: OperationOptions = {}): Promise<void> {
    return this.#office.purge(queue, options);
  }

  redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    return this.#office.redrive(queue, options);
  }

  lanes(queue: string, options: LanesOptions = {}): Promise<Page<LaneStats>> {
    return this.#lanes.list(queue, options);
  }

  setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    return this.#office.setLaneWeight(queue, key, weight);
  }

  workers(queue: string): Promise<readonly WorkerInfo[]> {
    return this.#office.workers(queue);
  }

  setGate(key: string, config: GateConfig): Promise<GateInfo> {
    return this.#office.setGate(key, config);
  }

  deleteGate(key: string): Promise<void> {
    return this.#office.deleteGate(key);
  }

  gate(key: string): Promise<GateInfo> {
    return this.#office.gate(key);
  }

  gates(options: GatesOptions = {}): Promise<GatesPage> {
    return this.#office.gates(options);
  }

  cooldown(key: string, ms: number, reason?: string): Promise<void> {
    return this.#office.cooldown(key, ms, reason);
  }

  clearCooldown(key: string): Promise<void> {
    return this.#office.clearCooldown(key);
  }

  reportGate(key: string, ok: boolean, options: OperationOptions = {}): Promise<void> {
    return this.#office.reportGate(key, ok, options);
  }

  /** Another partition asks for permits of gates that are at home here. */
  lend(request: LendRequest): Promise<LendAnswer> {
    return this.#office.lend(request);
  }

  storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    return this.#office.storeGet(store, keys);
  }

  storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions = {},
  ): Promise<void> {
    return this.#office.storeWrite(store, entries, options);
  }

  storeScan(store: string, options: ScanOptions = {}): Promise<Page<StoreEntry>> {
    return this.#office.storeScan(store, options);
  }
}

boundCalls(LocalBroker, { clockOf: ({ clock }) => clock });
