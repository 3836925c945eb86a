/**
 * The Broker port of a cluster. It holds no jobs: it knows which partition an item belongs to,
 * makes each call where its items are, and puts the answers together in the order of the items.
 */
import {
  type Ack,
  type Added,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  boundCalls,
  type CallOptions,
  type Clock,
  type ConsumeOptions,
  type Consumer,
  type DeleteQueueOptions,
  type Deliver,
  type ErrorJson,
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
  type Why,
  type WorkerInfo,
} from "@sluice/protocol";
import { STEADY_CLOCK } from "@sluice/protocol/wire";
import type { Directory, Partitions } from "../directory.ts";
import { partitionOf } from "../partition-port/names.ts";
import { unknownJob, unknownLease } from "../partition-port/refuse.ts";
import { Adder } from "./add.ts";
import { callShares, sharesOf } from "./batch.ts";
import { GateDesk } from "./gate-desk.ts";
import { groupEnded, groupOf } from "./groups.ts";
import { HeldGroups } from "./held-groups.ts";
import { CREDITS_MAX, PARTITIONS_FIRST_MS } from "./limits.ts";
import { mergeStats } from "./merge-queues.ts";
import { MergedEvents } from "./merged-events.ts";
import { pageInTurn } from "./pages.ts";
import { Poll } from "./poll.ts";
import { QueueDesk } from "./queue-desk.ts";
import { QueueKeeper } from "./queue-keeper.ts";
import { missingOf, Reach } from "./reach.ts";
import { checkBatch, checkInteger, invalid } from "./refuse.ts";
import { SpreadConsumer } from "./spread-consumer.ts";
import { StoreDesk } from "./store-desk.ts";
import { Titles } from "./titles.ts";

export interface ClusterRouterOptions {
  directory: Directory;
  partitions: Partitions;
  clock?: Clock | undefined;
  /** After how long without a job a partition's credits are lent to the others. Default 10. */
  quietMs?: number | undefined;
}

interface Signalled {
  signal?: AbortSignal | undefined;
}

export class ClusterRouter implements Broker {
  readonly #reach: Reach;
  readonly #quietMs: number | undefined;
  readonly #keeper: QueueKeeper;
  readonly #adder: Adder;
  readonly #poll: Poll;
  readonly #queues: QueueDesk;
  readonly #gates: GateDesk;
  readonly #stores: StoreDesk;
  readonly #titles = new Titles();
  readonly #held: HeldGroups;
  readonly #events = new Set<MergedEvents>();
  #closing: Promise<void> | undefined = undefined;

  constructor({ directory, partitions, clock = STEADY_CLOCK, quietMs }: ClusterRouterOptions) {
    const reach = new Reach({ directory, partitions, clock });
    this.#reach = reach;
    this.#quietMs = quietMs;
    this.#keeper = new QueueKeeper(reach);
    this.#held = new HeldGroups(clock);
    this.#adder = new Adder(reach, this.#keeper, this.#held);
    this.#poll = new Poll(reach);
    this.#queues = new QueueDesk(reach, this.#keeper);
    this.#gates = new GateDesk(reach);
    this.#stores = new StoreDesk(reach);
  }

  get clock(): Clock {
    return this.#reach.clock;
  }

  events(filter: EventFilter = {}): AsyncIterableIterator<BrokerEvent> {
    this.#reach.check();
    const events = new MergedEvents(this.#reach, filter, (over) => this.#events.delete(over));
    this.#events.add(events);
    return events;
  }

  async stats(options: StatsOptions = {}): Promise<BrokerStats> {
    const look = await this.#reach.look(this.#reach.all, [], (port) => port.stats(options));
    const answers = look.seen.map(({ value }) => value);
    return { ...mergeStats(answers, options.queues ?? []), ...missingOf(look) };
  }

  /** Leaves all partitions, which go on without us; a second call waits for the first. */
  close(options?: { timeoutMs?: number | undefined }): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async #close(options?: { timeoutMs?: number | undefined }): Promise<void> {
    const closing = this.#reach.close(options);
    for (const events of [...this.#events]) events.end();
    await closing;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions = {},
  ): Promise<Outcome<Added>[]> {
    checkBatch("jobs", jobs);
    this.#reach.check();
    return this.#titles.keep(options.operationId, `add ${queue}`, jobs.length, jobs, () =>
      this.#adder.add(queue, jobs, options),
    );
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    const placement = this.#reach.directory.placementOf(queue);
    if (placement.length === 1) return this.#reach.port(placement[0]!).lease(queue, options);
    this.#reach.check();
    return this.#poll.lease(queue, placement, options);
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    this.#reach.check();
    checkInteger("credits", options?.credits, 0, CREDITS_MAX);
    return SpreadConsumer.open({
      reach: this.#reach,
      keeper: this.#keeper,
      queue,
      options,
      deliver,
      quietMs: this.#quietMs,
    });
  }

  async ack(items: readonly Ack[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    checkBatch("items", items);
    return this.#titles.keep(options.operationId, "ack", items.length, items, () =>
      this.#ofLeases("items", items, (port, own) => port.ack(own, options)),
    );
  }

  async nack(
    items: readonly Nack[],
    options: OperationOptions = {},
  ): Promise<Outcome<true | number>[]> {
    checkBatch("items", items);
    return this.#titles.keep(options.operationId, "nack", items.length, items, () =>
      this.#ofLeases("items", items, (port, own) => port.nack(own, options)),
    );
  }

  async giveBack(leases: readonly string[], call?: CallOptions): Promise<Outcome<true>[]> {
    return this.#ofNames("leases", leases, unknownLease, (port, own) => port.giveBack(own, call));
  }

  async extend(items: readonly Extend[], call?: CallOptions): Promise<Outcome<number>[]> {
    return this.#ofLeases("items", items, (port, own) => port.extend(own, call));
  }

  async progress(items: readonly Progress[], call?: CallOptions): Promise<Outcome<true>[]> {
    return this.#ofLeases("items", items, (port, own) => port.progress(own, call));
  }

  async cancel(ids: readonly string[], call?: CallOptions): Promise<Outcome<boolean>[]> {
    return this.#ofNames("ids", ids, unknownJob, (port, own) => port.cancel(own, call));
  }

  /** The job may be in any partition that holds the queue. */
  async cancelByKey(
    queue: string,
    keys: readonly string[],
    options: OperationOptions = {},
  ): Promise<Outcome<boolean>[]> {
    checkBatch("keys", keys);
    const placement = this.#reach.directory.placementOf(queue);
    const call = `cancelByKey ${queue}`;
    const known = await this.#titles.keep(options.operationId, call, keys.length, keys, () =>
      this.#reach.known(placement, ["QUEUE_NOT_FOUND"], (port) =>
        port.cancelByKey(queue, keys, options),
      ),
    );
    return keys.map((_, i) => {
      const answers = known.map(({ value }) => value[i]!);
      return (
        answers.find(({ ok }) => ok === true) ?? answers.find(({ error }) => error) ?? answers[0]!
      );
    });
  }

  async retry(ids: readonly string[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    checkBatch("ids", ids);
    return this.#titles.keep(options.operationId, "retry", ids.length, ids, () =>
      this.#ofNames("ids", ids, unknownJob, (port, own) => port.retry(own, options)),
    );
  }

  async job(id: string, call?: CallOptions): Promise<JobInfo> {
    return this.#reach.ask(this.#partitionOf(id), (port) => port.job(id, call));
  }

  async why(id: string, call?: CallOptions): Promise<Why> {
    const why = await this.#reach.ask(this.#partitionOf(id), (port) => port.why(id, call));
    if (why.state !== "waiting" || why.reason !== "gated") return why;
    const isKnown = why.until !== undefined || why.shutBy !== undefined || why.part === "line";
    return isKnown || why.part === "concurrency" ? why : this.#gates.why(why);
  }

  async history(id: string, call?: CallOptions): Promise<readonly HistoryEntry[]> {
    return this.#reach.ask(this.#partitionOf(id), (port) => port.history(id, call));
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    checkBatch("ids", ids);
    this.#reach.check();
    const { shares } = sharesOf(ids, (id) => this.#placeOf(id, unknownJob));
    const queues = new Array<string | undefined>(ids.length).fill(undefined);
    await Promise.all(
      shares.map(async ({ partition, items, places }) => {
        const own = await this.#reach.ask(partition, (port) => port.queuesOf(items));
        for (const [i, place] of places.entries()) queues[place] = own[i];
      }),
    );
    return queues;
  }

  async ended(id: string, options: Signalled = {}): Promise<JobEnd> {
    return this.#reach.port(this.#partitionOf(id)).ended(id, options);
  }

  async jobs(queue: string, options: JobsOptions = {}): Promise<Page<JobInfo>> {
    this.#reach.check();
    const placement = this.#reach.directory.placementOf(queue);
    const { cursor: _, ...rest } = options;
    return pageInTurn(placement, options, (partition, page) =>
      this.#keeper.askMade(queue, partition, (port) => port.jobs(queue, { ...rest, ...page })),
    );
  }

  async group(group: string): Promise<GroupInfo> {
    return groupOf(this.#reach, group);
  }

  async groupEnded(group: string, options: Signalled = {}): Promise<GroupInfo> {
    return groupEnded(this.#reach, group, options.signal);
  }

  async releaseGroups(groups: readonly string[]): Promise<void> {
    checkBatch("groups", groups);
    this.#held.release(groups);
    await this.#reach.known(this.#reach.all, [], (port) => port.releaseGroups(groups));
  }

  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    return this.#queues.setQueue(checkName("queue.name", queue), options);
  }

  async deleteQueue(queue: string, options: DeleteQueueOptions = {}): Promise<QueueDeleted> {
    return this.#titles.keep(
      options.operationId,
      `deleteQueue ${queue}`,
      1,
      [options.deadLetters],
      () => this.#queues.deleteQueue(queue, options),
    );
  }

  async queue(queue: string): Promise<QueueInfo> {
    return this.#queues.queue(queue);
  }

  async queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    return this.#queues.queues(options);
  }

  async purge(queue: string, options: OperationOptions = {}): Promise<void> {
    await this.#titles.keep(options.operationId, `purge ${queue}`, 1, [], () =>
      this.#queues.purge(queue, options),
    );
  }

  async redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    return this.#titles.keep(
      options.operationId,
      `redrive ${queue}`,
      1,
      [options.count, options.ids],
      () => this.#queues.redrive(queue, options),
    );
  }

  async lanes(queue: string, options: LanesOptions = {}): Promise<Page<LaneStats>> {
    this.#reach.check();
    return this.#queues.lanes(queue, options);
  }

  async setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    await this.#queues.setLaneWeight(queue, key, weight);
  }

  async workers(queue: string): Promise<readonly WorkerInfo[]> {
    return this.#queues.workers(queue);
  }

  async setGate(key: string, config: GateConfig): Promise<GateInfo> {
    return this.#gates.setGate(key, config);
  }

  async deleteGate(key: string): Promise<void> {
    await this.#gates.deleteGate(key);
  }

  async gate(key: string): Promise<GateInfo> {
    return this.#gates.gate(key);
  }

  async gates(options: GatesOptions = {}): Promise<GatesPage> {
    return this.#gates.gates(options);
  }

  async cooldown(key: string, ms: number, reason?: string): Promise<void> {
    await this.#gates.cooldown(key, ms, reason);
  }

  async clearCooldown(key: string): Promise<void> {
    await this.#gates.clearCooldown(key);
  }

  async reportGate(key: string, ok: boolean, options: OperationOptions = {}): Promise<void> {
    await this.#titles.keep(options.operationId, `reportGate ${key}`, 1, ok, () =>
      this.#gates.reportGate(key, ok, options),
    );
  }

  async storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    return this.#stores.get(store, keys);
  }

  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions = {},
  ): Promise<void> {
    checkBatch("entries", entries);
    await this.#titles.keep(options.operationId, `storeWrite ${store}`, 1, entries, () =>
      this.#stores.write(store, entries, options),
    );
  }

  async storeScan(store: string, options?: ScanOptions): Promise<Page<StoreEntry>> {
    return this.#stores.scan(store, options);
  }

  // Where an item belongs

  #placeOf(name: unknown, refusal: (name: unknown) => ErrorJson): number | ErrorJson {
    const partition = partitionOf(name);
    const isThere = partition >= 0 && partition < this.#reach.directory.partitions;
    return isThere ? partition : refusal(name);
  }

  #partitionOf(id: string): number {
    this.#reach.check();
    const place = this.#placeOf(id, unknownJob);
    if (typeof place === "number") return place;
    throw SluiceError.fromJSON(place);
  }

  async #ofNames<T>(
    field: string,
    names: readonly string[],
    refusal: typeof unknownJob,
    call: (port: Broker, own: readonly string[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    checkBatch(field, names);
    this.#reach.check();
    const shares = sharesOf(names, (name) => this.#placeOf(name, refusal));
    return callShares(shares, async ({ partition, items }) =>
      call(this.#reach.port(partition), items),
    );
  }

  async #ofLeases<I extends { lease: string }, T>(
    field: string,
    items: readonly I[],
    call: (port: Broker, own: readonly I[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    checkBatch(field, items);
    this.#reach.check();
    const shares = sharesOf(items, (item) => this.#placeOf(item?.lease, unknownLease));
    return callShares(shares, async ({ partition, items: own }) =>
      call(this.#reach.port(partition), own),
    );
  }
}

boundCalls(ClusterRouter, { clockOf: ({ clock }) => clock, graceMs: PARTITIONS_FIRST_MS });

function checkName(field: string, name: unknown): string {
  if (typeof name === "string") return name;
  throw invalid(field, "a text", name);
}
