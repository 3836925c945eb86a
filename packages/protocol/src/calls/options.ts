/** What calls take beside their arguments, and the answers that are theirs alone. */
import type { Duration } from "../duration.ts";
import type { JobFilter, JobOrder } from "../found.ts";
import type { GateInfo } from "../gate.ts";
import type { FairnessKey, JobState } from "../job.ts";
import type { LaneSort, Page, WorkerPlace } from "../queue.ts";

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
  /** Keys of the gates whose decisions the answer includes. */
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

export interface WorkersOptions extends CallOptions {
  /** Jobs listed for each worker, those that it has held longest. */
  jobs?: number;
}

export interface SchedulesOptions extends PageOptions {
  /** Only those of this queue. */
  queue?: string;
  /** Only those of this name. */
  name?: string;
  /** Part of the name, whatever its case. */
  search?: string;
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

export interface CountOptions extends JobFilter, CallOptions {
  cursor?: string;
}

export interface FindOptions extends CountOptions {
  limit?: number;
  order?: JobOrder;
}

export interface FailuresOptions extends CallOptions, Pick<JobFilter, "queues" | "since"> {
  limit?: number;
}

export interface BulkOptions extends OperationOptions {
  /** The queue that the jobs go to. */
  to?: string;
  /** JSON that replaces the payload of each job. */
  payload?: unknown;
  /** Only counts the jobs that are meant. */
  dryRun?: boolean;
  /** Who does it. */
  by?: string;
}

export interface RedriveOptions extends OperationOptions {
  /** At most this many; absent: all. */
  count?: number;
  /** Only these, instead of a count; ids that are not letters of the queue are skipped. */
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
  timeout?: Duration | undefined;
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
   * end before they are released. If the client disappears, they are released after a minute.
   */
  holdGroups?: boolean | undefined;
}

export interface CancelOptions extends CallOptions {
  /** Also the jobs that it waits for and no other job does, up to 10,000. Default false. */
  dependencies?: boolean | undefined;
}

export interface AddFlowOptions extends OperationOptions {
  /** A flow that was opened: its jobs run when it is sealed. Absent: a flow of its own. */
  flow?: string | undefined;
}

export interface LeaseOptions extends CallOptions {
  max: number;
  /** How long to wait for the first job, up to a minute; absent: not at all. */
  wait?: Duration | undefined;
  /** How long the leases last; absent: as the queue or the job says. */
  lease?: Duration | undefined;
  worker?: string | undefined;
}

export interface ConsumeOptions {
  worker: string;
  /** Jobs that may be delivered before the next `addCredits`. */
  credits: number;
  /** How long the leases last; absent: as the queue or the job says. */
  lease?: Duration | undefined;
  /**
   * The consumer ends with the process that has the broker's log open. After a crash its leases run
   * out at once, and each job has lost an attempt. No network carries this: a consumer elsewhere
   * outlives the broker and may still ack. Nor may one behind a cluster set it, whose partitions
   * move between processes.
   */
  inProcess?: boolean | undefined;
  /** Where the worker runs, for people who look for it. */
  place?: WorkerPlace | undefined;
}
