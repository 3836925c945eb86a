import type { BrokerEvent, EventFilter } from "./event.ts";
import type { GateConfig, GateInfo } from "./gate.ts";
import type {
  Ack,
  Added,
  Extend,
  FairnessKey,
  GroupInfo,
  HistoryEntry,
  JobEnd,
  JobInfo,
  JobState,
  LeasedJob,
  Nack,
  NewJob,
  Outcome,
  Progress,
} from "./job.ts";
import type { LaneSort, LaneStats, Page, QueueInfo, QueueOptions, WorkerInfo } from "./queue.ts";
import type { BrokerStats } from "./stats.ts";
import type { Why } from "./why.ts";

/**
 * The Broker port: the only door to Sluice. The broker in this process implements it, so does the
 * client of a server, and so does a cluster; `Queue` and `Worker` see nothing else.
 *
 * Calls about jobs take batches and answer item by item: one refused item does not stop the
 * others. An answer means that what it says is durable. A call that can have no answer at all
 * rejects with a `SluiceError`.
 *
 * Every call takes `CallOptions`: as its last argument, or among the options it has anyway.
 *
 * Times are wall-clock milliseconds, durations end in `Ms`.
 */
export interface Broker extends JobCalls, QueueCalls, GateCalls, StoreCalls {
  /**
   * What happens from now on. Ends when the broker closes or the caller leaves the loop. A reader
   * that falls far behind is cut off with `RATE_LIMITED`, so that it cannot fill the memory.
   */
  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent>;

  /** How it is doing; with the times of the queues that are named. */
  stats(options?: StatsOptions): Promise<BrokerStats>;

  /**
   * Ends every consumer, gives its leases back, makes all that was answered durable. A broker that
   * is reached over a network says goodbye for at most `timeoutMs`.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<void>;
}

export interface JobCalls {
  add(queue: string, jobs: readonly NewJob[], options?: AddOptions): Promise<Outcome<Added>[]>;

  /** Takes jobs now, or waits up to `waitMs` for the first; an empty array when there was none. */
  lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]>;

  /** Has jobs delivered as they can run, never more at once than the consumer has credits. */
  consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer>;

  ack(items: readonly Ack[], options?: OperationOptions): Promise<Outcome<true>[]>;
  /** A number: the cooldown that was asked for was too long, and lasts so many milliseconds. */
  nack(items: readonly Nack[], options?: OperationOptions): Promise<Outcome<true | number>[]>;
  /** The job was not started: it goes to the front of its flow and no attempt is lost. */
  giveBack(leases: readonly string[], options?: CallOptions): Promise<Outcome<true>[]>;
  /** Answers when the lease ends now. */
  extend(items: readonly Extend[], options?: CallOptions): Promise<Outcome<number>[]>;
  progress(items: readonly Progress[], options?: CallOptions): Promise<Outcome<true>[]>;

  /** False when the job had ended. */
  cancel(ids: readonly string[], options?: CallOptions): Promise<Outcome<boolean>[]>;
  /** Cancels the job that holds a dedupe key; false when none does. */
  cancelByKey(
    queue: string,
    keys: readonly string[],
    options?: OperationOptions,
  ): Promise<Outcome<boolean>[]>;
  /**
   * Runs an ended job again while it is kept, or a delayed one at once. A dead letter returns to
   * the queue it came from.
   */
  retry(ids: readonly string[], options?: OperationOptions): Promise<Outcome<true>[]>;

  job(id: string, options?: CallOptions): Promise<JobInfo>;
  why(id: string, options?: CallOptions): Promise<Why>;
  history(id: string, options?: CallOptions): Promise<readonly HistoryEntry[]>;
  /** In which queue each job is; undefined: there is none such, or it is no longer kept. */
  queuesOf(ids: readonly string[], options?: CallOptions): Promise<(string | undefined)[]>;
  /** Answers when the job has ended; at once when it has and is still kept. */
  ended(id: string, options?: CallOptions): Promise<JobEnd>;
  jobs(queue: string, options?: JobsOptions): Promise<Page<JobInfo>>;
  /** Groups are asked for by their full names, such as `orders/batch-7`. */
  group(group: string, options?: CallOptions): Promise<GroupInfo>;
  /** Answers when the group has ended; at once when it has and is still known. */
  groupEnded(group: string, options?: CallOptions): Promise<GroupInfo>;
  /** No more members come to groups that adds have held: they end when their members have. */
  releaseGroups(groups: readonly string[], options?: CallOptions): Promise<void>;
}

export interface QueueCalls {
  /** Makes a queue, or changes one in place: its jobs stay. */
  setQueue(queue: string, options: QueueOptions, call?: CallOptions): Promise<QueueInfo>;
  /** Deletes it with all that is in it; its dead letters in other queues stay, or go with it. */
  deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted>;
  queue(queue: string, options?: CallOptions): Promise<QueueInfo>;
  /** A page of the queues, by name; `allQueues` reads them all. */
  queues(options?: QueuesOptions): Promise<Page<QueueInfo>>;
  /** Removes what waits or is delayed; leases are left alone. */
  purge(queue: string, options?: OperationOptions): Promise<void>;
  /** Puts dead letters back where they came from, oldest first or by id; answers how many. */
  redrive(queue: string, options?: RedriveOptions): Promise<number>;
  lanes(queue: string, options?: LanesOptions): Promise<Page<LaneStats>>;
  setLaneWeight(
    queue: string,
    key: FairnessKey,
    weight: number,
    options?: CallOptions,
  ): Promise<void>;
  workers(queue: string, options?: CallOptions): Promise<readonly WorkerInfo[]>;
}

export interface GateCalls {
  /** Sets the limits of a gate, or of all gates that a pattern such as `indexer:*` matches. */
  setGate(key: string, config: GateConfig, options?: CallOptions): Promise<GateInfo>;
  /** Removes the limits: what waited for them goes on. */
  deleteGate(key: string, options?: CallOptions): Promise<void>;
  gate(key: string, options?: CallOptions): Promise<GateInfo>;
  gates(options?: GatesOptions): Promise<GatesPage>;
  cooldown(key: string, ms: number, reason?: string, options?: CallOptions): Promise<void>;
  clearCooldown(key: string, options?: CallOptions): Promise<void>;
  /** Tells a gate's ladder of a success or a failure. */
  reportGate(key: string, ok: boolean, options?: OperationOptions): Promise<void>;
}

/** Small keyed stores on the same log, for what applications and policies must remember. */
export interface StoreCalls {
  storeGet(
    store: string,
    keys: readonly string[],
    options?: CallOptions,
  ): Promise<(unknown | undefined)[]>;
  /** All or nothing, durable together; a value of undefined deletes its key. */
  storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options?: OperationOptions,
  ): Promise<void>;
  storeScan(store: string, options?: ScanOptions): Promise<Page<StoreEntry>>;
}

export interface StoreEntry {
  key: string;
  /** Anything that JSON can carry. */
  value: unknown;
}

export interface LookOptions extends CallOptions {
  /**
   * In a cluster: what the partitions say that answer soon, instead of a refusal when one is away;
   * `stats` tells which are missing.
   */
  partial?: boolean;
}

export interface StatsOptions extends CallOptions {
  queues?: readonly string[];
  /** Gates, by their key, whose decisions are told. */
  gates?: readonly string[];
  /** With the oldest and the next job of each, which takes a look at every job there is. */
  oldest?: boolean;
}

export interface PageOptions extends CallOptions {
  limit?: number;
  cursor?: string;
}

export interface QueuesOptions extends LookOptions, PageOptions {}

export interface ScanOptions extends PageOptions {
  prefix?: string;
}

export interface LanesOptions extends PageOptions {
  /** Part of the key; of a path, of its levels joined with slashes. */
  search?: string;
  /** Absent: in no order that means anything, and cheaper. */
  sort?: LaneSort;
}

export interface GatesOptions extends PageOptions {
  /** Part of the key, whatever its case. */
  search?: string;
  /** Only those in whose line lanes of this queue stand. */
  queue?: string;
  /** Only keys and patterns that have limits of their own. */
  configured?: boolean;
  /** `waiting`: those first in whose line most lanes wait. Absent: by their keys. */
  sort?: GateSort;
}

export type GateSort = "key" | "waiting";

export interface GatesPage extends Page<GateInfo> {
  /** How many there are on all pages. */
  total: number;
  /** In a cluster: partitions that did not answer, whose part is not in it. */
  missing?: readonly number[];
}

export interface JobsOptions extends PageOptions {
  state?: JobState;
  lane?: FairnessKey;
}

export interface RedriveOptions extends OperationOptions {
  /** At most so many; all when it is not said. */
  count?: number;
  /** Only these, instead of a count; those that are no letters of the queue are passed over. */
  ids?: readonly string[];
}

export interface DeleteQueueOptions extends OperationOptions {
  /** What becomes of the queue's dead letters in other queues. Default `keep`. */
  deadLetters?: "keep" | "delete";
}

export interface QueueDeleted {
  /** Dead letters of the queue that stay in other queues; a new queue of its name can get them. */
  lettersKept: number;
  /** Dead letters that went with the queue, those of other queues that were in it included. */
  lettersDeleted: number;
}

/** How long the caller waits. The broker's answer does not depend on it. */
export interface CallOptions {
  /**
   * Ends the wait with `ABORTED`. A call that was not sent yet never takes effect, nor does an add
   * that waits for room; any other call may have.
   */
  signal?: AbortSignal | undefined;
  /**
   * Ends the wait after this long: with `UNAVAILABLE` when the call could not be sent and so has
   * no effect, else with `TIMEOUT`, which carries the operation id. Absent: the default of the
   * connection; a broker in this process has none.
   */
  timeoutMs?: number | undefined;
}

export interface OperationOptions extends CallOptions {
  /**
   * The same call made again with the same id gets the first answer again, after a restart too. It
   * is remembered for ten minutes, unless ten thousand others have come since. Another call under
   * the same id is refused with `CONFLICT`.
   */
  operationId?: string | undefined;
}

export interface AddOptions extends OperationOptions {
  /**
   * More members of the groups that these jobs name come with another call: those groups do not
   * end before they are released. Whoever goes away without a word releases them after a minute.
   */
  holdGroups?: boolean | undefined;
}

export interface LeaseOptions extends CallOptions {
  max: number;
  waitMs?: number | undefined;
  /** How long the leases last; absent: as the queue or the job says. */
  leaseMs?: number | undefined;
  worker?: string | undefined;
}

export interface ConsumeOptions {
  worker: string;
  /** Jobs that may be delivered before the next `addCredits`. */
  credits: number;
  /** How long the leases last; absent: as the queue or the job says. */
  leaseMs?: number | undefined;
  /**
   * The consumer ends with the process that has the broker's log open. After a crash its leases run
   * out at once, and each job has lost an attempt. No network carries this: a consumer elsewhere
   * outlives the broker and may still ack. Nor may one behind a cluster set it, whose partitions
   * move between processes.
   */
  inProcess?: boolean | undefined;
}

export type Deliver = (jobs: LeasedJob[]) => void;

/** Somebody to whom jobs are delivered. */
export interface Consumer {
  /** Lets `count` more jobs come. An acked job gives no credit back by itself. */
  addCredits(count: number): void;
  /**
   * No more deliveries. Leases that it holds stay until they are acked, nacked, given back or
   * expire; a delivery that is on its way is given back.
   */
  stop(): Promise<void>;
  /** Resolves when the consumer is over: stopped, queue deleted or broker closed. */
  readonly over: Promise<void>;
}
