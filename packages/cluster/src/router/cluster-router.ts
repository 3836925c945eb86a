/**
 * The Broker port of a cluster. It holds no jobs: it knows which partition an item belongs to,
 * makes each call where its items are, and puts the answers together in the order of the items.
 */

import {
  type Added,
  type AddFlowOptions,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  boundCalls,
  type CallName,
  type CallOptions,
  type CancelOptions,
  type Clock,
  type ConsumeOptions,
  type Consumer,
  type CountOptions,
  CREDITS_MAX,
  callsOf,
  checkInteger,
  type DeleteQueueOptions,
  type Deliver,
  type DependencyInfo,
  type Duration,
  defineCalls,
  type EventFilter,
  type Failures,
  type FailuresOptions,
  type FindOptions,
  type FlowAdded,
  type FlowJob,
  type FoundJobs,
  type GateInfo,
  type GateOptions,
  type GatesOptions,
  type GatesPage,
  type GroupInfo,
  invalid,
  type JobCounts,
  type JobFilter,
  type JobInfo,
  type JobsOptions,
  type LaneStats,
  type LanesOptions,
  type LeasedJob,
  type LeaseOptions,
  type NewJob,
  type OperationOptions,
  type Outcome,
  type Page,
  type PageOptions,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type RedriveOptions,
  rowOf,
  type ScheduleInfo,
  type ScheduleOptions,
  type SchedulesOptions,
  type StatsOptions,
  type StoreEntry,
  SystemClock,
  toSluiceError,
  type Why,
} from "@sluice/protocol";
import type { Directory, Partitions } from "../directory.ts";
import { FlowLinks } from "../flows/flow-links.ts";
import { LinkedJobs } from "../flows/linked-jobs.ts";
import { PARTITIONS_FIRST_MS } from "../limits.ts";
import { CallerGroups } from "./caller-groups.ts";
import { ClusterBulks } from "./cluster-bulks.ts";
import { ClusterFinds } from "./cluster-finds.ts";
import { ClusterGates } from "./cluster-gates.ts";
import { ClusterQueues } from "./cluster-queues.ts";
import { ClusterSchedules } from "./cluster-schedules.ts";
import { ConfigStore } from "./config-store.ts";
import { groupEnded, groupOf } from "./groups.ts";
import { mergeStats } from "./merge-queues.ts";
import { MergedEvents } from "./merged-events.ts";
import { OperationIds } from "./operation-ids.ts";
import { pageInTurn } from "./pages.ts";
import { missingOf, PartitionCalls } from "./partition-calls.ts";
import { partitionOfJob, plainCall } from "./plain-calls.ts";
import { Poll } from "./poll.ts";
import { QueueCopies } from "./queue-copies.ts";
import { RoutedAdds } from "./routed-adds.ts";
import { RoutedFlows } from "./routed-flows.ts";
import { SpreadConsumer } from "./spread-consumer.ts";

export interface ClusterRouterOptions {
  directory: Directory;
  partitions: Partitions;
  clock?: Clock | undefined;
  /** After how long without a job a partition's credits are lent to the others. Default 10. */
  quietMs?: number | undefined;
  /** Where calls are made about jobs that wait for others in other partitions. Default: here. */
  anyNode?: Broker | undefined;
}

/** The calls that need more than their rows say: their answers are merged, or they take steps. */
type Own =
  | "add"
  | "addFlow"
  | "cancel"
  | "openFlow"
  | "sealFlow"
  | "cancelFlow"
  | "dependencies"
  | "dependents"
  | "why"
  | "jobs"
  | "findJobs"
  | "countJobs"
  | "failures"
  | "startBulk"
  | "bulk"
  | "bulks"
  | "stopBulk"
  | "group"
  | "groupEnded"
  | "releaseGroups"
  | "setQueue"
  | "deleteQueue"
  | "queues"
  | "redrive"
  | "lanes"
  | "setSchedule"
  | "schedules"
  | "setGate"
  | "deleteGate"
  | "gate"
  | "gates"
  | "storeWrite"
  | "stats";

export class ClusterRouter extends callsOf<Exclude<CallName, Own>>() implements Broker {
  readonly #calls: PartitionCalls;
  readonly #quietMs: number | undefined;
  readonly #anyNode: Broker | undefined;
  readonly #copies: QueueCopies;
  readonly #adds: RoutedAdds;
  readonly #flows: RoutedFlows;
  readonly #linked: LinkedJobs;
  readonly #poll: Poll;
  readonly #queues: ClusterQueues;
  readonly #gates: ClusterGates;
  readonly #finds: ClusterFinds;
  readonly #bulks: ClusterBulks;
  readonly #schedules: ClusterSchedules;
  readonly #config: ConfigStore;
  readonly #ids = new OperationIds();
  readonly #held: CallerGroups;
  readonly #events = new Set<MergedEvents>();
  #closing: Promise<void> | undefined = undefined;

  static {
    defineCalls(ClusterRouter, (name, row) => {
      const call = plainCall(name, row);
      if (row.repeat !== "once") return async (self, args) => call(self.#calls, args);
      return (self, args) => self.#ids.keep(name, args, async (own) => call(self.#calls, own));
    });
  }

  constructor(options: ClusterRouterOptions) {
    super();
    const { directory, partitions, clock = new SystemClock(), quietMs, anyNode } = options;
    const calls = new PartitionCalls({ directory, partitions, clock });
    this.#calls = calls;
    this.#quietMs = quietMs;
    this.#anyNode = anyNode;
    this.#copies = new QueueCopies(calls);
    this.#held = new CallerGroups(clock);
    const links = new FlowLinks(calls);
    this.#adds = new RoutedAdds(calls, this.#copies, this.#held, links);
    this.#flows = new RoutedFlows(calls, this.#copies, links);
    this.#linked = new LinkedJobs(calls, anyNode);
    this.#poll = new Poll(calls);
    this.#queues = new ClusterQueues(calls, this.#copies);
    this.#gates = new ClusterGates(calls);
    this.#finds = new ClusterFinds(calls);
    this.#bulks = new ClusterBulks(calls);
    this.#schedules = new ClusterSchedules(calls);
    this.#config = new ConfigStore(calls);
  }

  get clock(): Clock {
    return this.#calls.clock;
  }

  events(filter: EventFilter = {}): AsyncIterableIterator<BrokerEvent> {
    this.#calls.check();
    const events = new MergedEvents(this.#calls, filter, (over) => this.#events.delete(over));
    this.#events.add(events);
    return events;
  }

  async stats(options: StatsOptions = {}): Promise<BrokerStats> {
    const look = await this.#calls.look(this.#calls.all, [], (port) => port.stats(options));
    const answers = look.seen.map(({ value }) => value);
    return { ...mergeStats(answers, options.queues ?? []), ...missingOf(look) };
  }

  /** Leaves all partitions, which others use on; a second call waits for the first. */
  close(options?: { timeout?: Duration | undefined }): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async #close(options?: { timeout?: Duration | undefined }): Promise<void> {
    const closing = this.#calls.close(options);
    for (const events of [...this.#events]) events.end();
    await closing;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions = {},
  ): Promise<Outcome<Added>[]> {
    this.#calls.check();
    const node = this.#anyNode;
    const isElsewhere = node !== undefined && this.#adds.isOverPartitions(queue, jobs);
    const operationId = options?.operationId;
    const isNamed = typeof operationId === "string";
    if (isNamed && Array.isArray(jobs) && jobs.length === 0) {
      // It asks whether the id is known, and is no call under it.
      this.#ids.checkUnderWay(operationId);
      return this.#adds.ask(queue, { ...options, operationId });
    }
    return this.#once("add", [queue, jobs, options], (own) =>
      isElsewhere ? node.add(queue, jobs, own) : this.#adds.add(queue, jobs, own, isNamed),
    );
  }

  async addFlow(
    queue: string,
    jobs: readonly FlowJob[],
    options: AddFlowOptions = {},
  ): Promise<FlowAdded> {
    this.#calls.check();
    const node = this.#anyNode;
    const isElsewhere = node !== undefined && !this.#flows.isLocal(queue, jobs, options.flow);
    return this.#once("addFlow", [queue, jobs, options], (own) =>
      isElsewhere ? node.addFlow(queue, jobs, own) : this.#flows.addFlow(queue, jobs, own),
    );
  }

  async openFlow(queue: string, options: OperationOptions = {}): Promise<{ flow: string }> {
    this.#calls.check();
    return this.#once("openFlow", [queue, options], (own) => this.#flows.openFlow(queue, own));
  }

  async sealFlow(flow: string, options: OperationOptions = {}): Promise<void> {
    await this.#once("sealFlow", [flow, options], (own) =>
      this.#flows.at(flow, (port) => port.sealFlow(flow, own)),
    );
  }

  async cancelFlow(flow: string, options: OperationOptions = {}): Promise<void> {
    await this.#once("cancelFlow", [flow, options], (own) =>
      this.#flows.at(flow, (port) => port.cancelFlow(flow, own)),
    );
  }

  async dependencies(id: string, options?: PageOptions): Promise<Page<DependencyInfo>> {
    return this.#linked.dependencies(id, options);
  }

  async dependents(id: string, options?: PageOptions): Promise<Page<DependencyInfo>> {
    return this.#linked.dependents(id, options);
  }

  async cancel(ids: readonly string[], options?: CancelOptions): Promise<Outcome<boolean>[]> {
    this.#calls.check();
    const all = [ids, options];
    if (options?.dependencies !== true || !Array.isArray(ids)) return this.#cancel(all);
    if (this.#anyNode !== undefined) return this.#anyNode.cancel(ids, options);
    // What cannot be noted is not cancelled, so that the caller can try again.
    const noted = await outcomesOf(ids, (id) => this.#flows.noteCancel(id));
    const rest = ids.filter((_, i) => noted[i]!.error === undefined);
    const answers = rest.length === 0 ? [] : await this.#cancel([rest, options]);
    return noted.map(({ error }) => (error === undefined ? answers.shift()! : { error }));
  }

  async #cancel(args: readonly unknown[]): Promise<Outcome<boolean>[]> {
    return plainCall("cancel", rowOf("cancel"))(this.#calls, args) as Promise<Outcome<boolean>[]>;
  }

  /** A call by hand that must take effect once, with the options under which it is made. */
  #once<O extends OperationOptions, T>(
    name: CallName,
    args: readonly [...unknown[], O],
    make: (options: O & { operationId: string }) => Promise<T>,
  ): Promise<T> {
    return this.#ids.keep(name, args, (own) => make(own.at(-1) as O & { operationId: string }));
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    const placement = this.#calls.directory.placementOf(queue);
    if (placement.length === 1) {
      return this.#calls.make(placement[0]!, (port) => port.lease(queue, options));
    }
    this.#calls.check();
    return this.#poll.lease(queue, placement, options);
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    this.#calls.check();
    checkInteger("credits", options?.credits, 0, CREDITS_MAX);
    return SpreadConsumer.open({
      calls: this.#calls,
      copies: this.#copies,
      queue,
      options,
      deliver,
      quietMs: this.#quietMs,
    });
  }

  async why(id: string, options?: CallOptions): Promise<Why> {
    const partition = partitionOfJob(this.#calls, id);
    const why = await this.#calls.ask(partition, (port) => port.why(id, options));
    if (why.state === "blocked") return this.#linked.why(id, why);
    if (why.state !== "waiting" || why.reason !== "gated") return why;
    const isKnown = why.until !== undefined || why.shutBy !== undefined || why.part === "line";
    return isKnown || why.part === "concurrency" ? why : this.#gates.why(why);
  }

  async jobs(queue: string, options: JobsOptions = {}): Promise<Page<JobInfo>> {
    this.#calls.check();
    const placement = this.#calls.directory.placementOf(queue);
    const { cursor: _, ...rest } = options;
    return pageInTurn(placement, options, (partition, page) =>
      this.#copies.askMade(queue, partition, (port) => port.jobs(queue, { ...rest, ...page })),
    );
  }

  async findJobs(options?: FindOptions): Promise<FoundJobs> {
    return this.#finds.findJobs(options);
  }

  async countJobs(options?: CountOptions): Promise<JobCounts> {
    return this.#finds.countJobs(options);
  }

  async failures(options?: FailuresOptions): Promise<Failures> {
    return this.#finds.failures(options);
  }

  async startBulk(
    action: BulkAction,
    filter: JobFilter,
    options: BulkOptions = {},
  ): Promise<BulkInfo> {
    this.#calls.check();
    return this.#once("startBulk", [action, filter, options], (own) =>
      this.#bulks.startBulk(action, filter, own),
    );
  }

  async bulk(id: string): Promise<BulkInfo> {
    return this.#bulks.bulk(id);
  }

  async bulks(): Promise<readonly BulkInfo[]> {
    return this.#bulks.bulks();
  }

  async stopBulk(id: string): Promise<BulkInfo> {
    return this.#bulks.stopBulk(id);
  }

  async group(group: string): Promise<GroupInfo> {
    return groupOf(this.#calls, group);
  }

  async groupEnded(group: string, { signal }: CallOptions = {}): Promise<GroupInfo> {
    return groupEnded(this.#calls, group, signal);
  }

  async releaseGroups(groups: readonly string[]): Promise<void> {
    this.#held.release(groups);
    await this.#calls.known(this.#calls.all, [], (port) => port.releaseGroups(groups));
  }

  async setQueue(
    queue: string,
    options: QueueOptions,
    // A client of the cluster asks a node, and passes this on.
    _call?: CallOptions,
  ): Promise<QueueInfo> {
    if (typeof queue !== "string") throw invalid("queue.name", "a text", queue);
    return this.#queues.setQueue(queue, options);
  }

  async deleteQueue(queue: string, options: DeleteQueueOptions = {}): Promise<QueueDeleted> {
    const isNamed = options.operationId !== undefined;
    return this.#once("deleteQueue", [queue, options], (own) =>
      this.#queues.deleteQueue(queue, own, isNamed),
    );
  }

  async queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    return this.#queues.queues(options);
  }

  async redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    return this.#once("redrive", [queue, options], (own) => this.#queues.redrive(queue, own));
  }

  async lanes(queue: string, options: LanesOptions = {}): Promise<Page<LaneStats>> {
    this.#calls.check();
    return this.#queues.lanes(queue, options);
  }

  async setSchedule(
    queue: string,
    schedule: string,
    options: ScheduleOptions,
  ): Promise<ScheduleInfo> {
    return this.#schedules.setSchedule(queue, schedule, options);
  }

  async schedules(options: SchedulesOptions = {}): Promise<Page<ScheduleInfo>> {
    return this.#schedules.schedules(options);
  }

  async setGate(key: string, config: GateOptions): Promise<GateInfo> {
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

  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions = {},
  ): Promise<void> {
    await this.#once("storeWrite", [store, entries, options], (own) =>
      this.#config.write(store, entries, own),
    );
  }
}

async function outcomesOf(
  ids: readonly string[],
  call: (id: string) => Promise<void>,
): Promise<Outcome<true>[]> {
  const outcomes: Outcome<true>[] = [];
  for (const id of ids) {
    outcomes.push(
      await call(id).then(
        () => ({ ok: true }),
        (error) => ({ error: toSluiceError(error).toJSON() }),
      ),
    );
  }
  return outcomes;
}

boundCalls(ClusterRouter, { clockOf: ({ clock }) => clock, graceMs: PARTITIONS_FIRST_MS });
