import type { Claim, GateLine } from "../gates/gate-line.ts";
import type { TokenBucket } from "../gates/token-bucket.ts";
import type { QueueCounters } from "../types.ts";
import type { DeadList } from "./dead-letters.ts";
import { DurationHistogram } from "./duration-histogram.ts";
import type { LaneWaits } from "./lane-waits.ts";
import type { QueueConfig } from "./queue-config.ts";

/** A worker of a queue and the jobs it would take now. */
export interface WorkerState {
  readonly name: string;
  readonly index: number;
  slots: number;
  leased: number;
  /** How long its leases last; 0: as the job or the queue says. */
  leaseMs: number;
  /** It lives in the process of the broker and ends with it. */
  readonly inProcess: boolean;
  /** Its process has ended: what it holds will never be acked. */
  isGone: boolean;
}

/** The workers of all queues by their index, and the indexes that are free. */
interface WorkerTable {
  readonly workers: (WorkerState | undefined)[];
  readonly freeWorkers: number[];
}

/** One queue: its policy, what is in it, who works for it. */
export class QueueState {
  readonly index: number;
  readonly name: string;
  /** Rises with every queue made, so that keys of a deleted queue mean nothing to the next. */
  readonly serial: number;
  config: QueueConfig;
  /** TIER nodes, by tier. */
  readonly tiers: number[] = [];
  /** The rings of their lanes. */
  readonly tierRings: number[] = [];
  /** No tier before this one has a ready lane. */
  firstReady = 0;
  /** The ring over the tiers, 0 when they are strict. */
  tierRing = 0;
  readonly waitingAt: number[] = [];
  readonly leasedAt: number[] = [];
  waiting = 0;
  delayed = 0;
  blocked = 0;
  leased = 0;
  kept = 0;
  keptHead = 0;
  keptTail = 0;
  /** The job kept last: where the next one goes when they come back out of order. */
  lastKept = 0;
  bytes = 0;
  lanes = 0;
  readonly counters: QueueCounters = {
    added: 0,
    dispatched: 0,
    finished: 0,
    failed: 0,
    retried: 0,
    expired: 0,
    cancelled: 0,
    dead: 0,
    redriven: 0,
    dropped: 0,
    rejected: 0,
    steps: 0,
    suspended: 0,
    signals: 0,
  };
  /** How long jobs waited once they were due, and how long those that were acked or nacked ran. */
  readonly waits = new DurationHistogram();
  readonly runs = new DurationHistogram();
  /** The same for its busiest lanes; made with the first dispatch, for most queues are idle. */
  laneWaits: LaneWaits | undefined;
  readonly workers = new Map<string, WorkerState>();
  /** Those of the broker's own process; one outside may have the same name. */
  readonly workersInProcess = new Map<string, WorkerState>();
  /** Workers with free slots, in the order in which they get jobs. */
  readonly free: WorkerState[] = [];
  demand = 0;
  /** What adds take from once the queue is filled to a level. */
  admission: TokenBucket | undefined = undefined;
  /** Waiting and delayed jobs up to this place in the order of entry are being purged; 0: none. */
  purgeUpTo = 0;
  purgeAt = 0;
  /** The row that the purge looks at next. */
  purgeRow = 0;
  /** How long a lease lasts on when it has run out, for the caller to decide; 0: it fails. */
  askMs = 0;
  deleted = false;
  /** The queue is in the list of those that may have something to dispatch. */
  runnable = false;
  /** Shared gates in whose line this queue is first. */
  readonly offers = new Set<GateLine>();
  /** Gates in whose line this queue was passed over for want of a free worker. */
  readonly passedOver = new Set<GateLine>();
  readonly claims = new Set<Claim>();
  /** True once a dead job came in. */
  isDlq = false;
  /** For a dead letter queue: its dead, by the name of the queue they came from. */
  readonly dead = new Map<string, DeadList>();

  constructor(index: number, serial: number, name: string, config: QueueConfig) {
    this.index = index;
    this.serial = serial;
    this.name = name;
    this.config = config;
  }

  /** Whether a job of this queue could go out if it was its turn. */
  canWork(): boolean {
    if (this.demand === 0 || this.config.paused || this.deleted) return false;
    return this.leased < this.config.capacity.running;
  }
}

/**
 * The worker known by this name, made when it is not: a lease may outlive its worker. Workers are
 * known while they would take jobs or hold some. One that does neither is forgotten: each process
 * that connects may make up new names.
 */
export function workerOf(
  core: WorkerTable,
  queue: QueueState,
  name: string,
  inProcess: boolean,
): WorkerState {
  return namesOf(queue, inProcess).get(name) ?? makeWorker(core, queue, name, inProcess);
}

export function namesOf(queue: QueueState, inProcess: boolean): Map<string, WorkerState> {
  return inProcess ? queue.workersInProcess : queue.workers;
}

export function allWorkers(queue: QueueState): WorkerState[] {
  return [...queue.workers.values(), ...queue.workersInProcess.values()];
}

function makeWorker(
  core: WorkerTable,
  queue: QueueState,
  name: string,
  inProcess: boolean,
): WorkerState {
  const index = core.freeWorkers.pop() ?? core.workers.length;
  const worker = { name, index, slots: 0, leased: 0, leaseMs: 0, inProcess, isGone: false };
  core.workers[index] = worker;
  namesOf(queue, inProcess).set(name, worker);
  return worker;
}

/** A worker without leases that would take nothing is forgotten. */
export function forgetIdle(core: WorkerTable, queue: QueueState, worker: WorkerState): void {
  if (worker.slots !== 0 || worker.leased !== 0) return;
  const names = namesOf(queue, worker.inProcess);
  // The name of one that is gone may be another's by now.
  if (names.get(worker.name) === worker) names.delete(worker.name);
  core.workers[worker.index] = undefined;
  core.freeWorkers.push(worker.index);
}
