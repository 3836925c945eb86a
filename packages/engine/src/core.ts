import { invalid, Refusal } from "./errors.ts";
import type { Fact, GoneBodies } from "./facts/facts.ts";
import { Flows } from "./flows/flows.ts";
import type { GateLine, GateSet } from "./gates/gate-line.ts";
import { GateTable } from "./gates/gate-table.ts";
import { Lines } from "./gates/line.ts";
import { LineTree } from "./gates/line-tree.ts";
import type { LineWorld } from "./gates/line-world.ts";
import { Dedupes } from "./jobs/dedupe.ts";
import { Groups } from "./jobs/group.ts";
import * as jobFields from "./jobs/job-fields.ts";
import { JobTable } from "./jobs/job-table.ts";
import type { GateNews } from "./lending/ledger.ts";
import { type LentLot, LOT_MS, type Lot, newLot } from "./lending/ledger.ts";
import { KeptJobs, type KeptMax } from "./queues/kept-jobs.ts";
import type { QueueConfig } from "./queues/queue-config.ts";
import { QueueState, type WorkerState } from "./queues/queue-state.ts";
import { weightOf } from "./queues/weights.ts";
import { RememberedAnswers } from "./remembered-answers.ts";
import { Lanes, type StrandOwner } from "./ring/lanes.ts";
import * as nodeFields from "./ring/node-fields.ts";
import { Rings } from "./ring/ring.ts";
import { ScheduleTable } from "./schedules/schedule-table.ts";
import { Orphans } from "./steps/orphans.ts";
import { Stores } from "./stores.ts";
import { IdIndex } from "./tables/ids.ts";
import { KeyTable } from "./tables/keys.ts";
import { Table } from "./tables/table.ts";
import { Timers } from "./tables/timers.ts";
import type { JobSpec } from "./types.ts";

const { ENDED_JOB, ID, ID_LINK, IN_STRAND, JOB_INTS, LEASE, LEASED_JOB, META } = jobFields;
const { POS, POS2, SIZE, STATE_BITS } = jobFields;
const { AT_TIER, CHILD, GATES, IN_LANE, KIND, QUEUE, RING, TIER, WEIGHT } = nodeFields;

export interface EngineOptions {
  /** The configuration of a queue that is made for dead letters, since it does not exist. */
  letterQueue: (name: string) => QueueConfig;
  /** Varies the jitter of retries and the hashing of keys; nothing else is random. */
  seed?: number;
  /** Gets every fact, in order, at its end. The caller takes them out after each call. */
  facts?: Fact[];
  /** What all queues together keep of ended jobs; absent: as much as each of them may. */
  keptMax?: KeptMax | undefined;
  /** Reserve address space for millions of jobs and lanes now rather than when they come. */
  reserve?: boolean;
  /** Gets the bodies that no job has any more, in the same way. */
  gone?: GoneBodies;
  /**
   * Whether another partition is the home of a gate, which lends its permits to this one. A pure
   * function of the key, as `letterQueue` is of the name: the rule belongs to the cluster, and a
   * list of keys cannot say it, for gates are made by the jobs that name them.
   */
  isBorrowed?: (key: string) => boolean;
}

/** The offset of the wall clock from the engine's time. */
export interface Wall {
  /** How far it is ahead. */
  aheadMs: number;
  /** The latest time on it that a job was given, until which a step matters; 0: none was. */
  timedUntil: number;
}

/** A lease that has run out and lasts on until a time, for its caller to say how it failed. */
export interface Overdue {
  readonly id: number;
  readonly lease: number;
  readonly queue: string;
  readonly until: number;
}

/** A piece of work that is spread over calls: answers true when it is done. */
export type Chore = (now: number) => boolean;

/**
 * Everything the engine knows, wired together. The verbs (add.ts, dispatch.ts, end.ts, ...) are
 * functions over a core; the engine is the front that users of the package see.
 */
export class Core implements LineWorld, StrandOwner {
  readonly seed: number;
  readonly rings: Rings;
  readonly jobs: JobTable;
  readonly queues: (QueueState | undefined)[] = [];
  readonly byName = new Map<string, QueueState>();
  readonly laneKeys: KeyTable;
  readonly gates: GateTable;
  readonly lanes: Lanes;
  readonly lineTree: LineTree;
  readonly lines: Lines;
  readonly ids: IdIndex;
  /** Delays and leases. */
  readonly timers: Timers;
  /** Deadlines and promotions of waiting and delayed jobs. */
  readonly later: Timers;
  /** Per queue (its index + 1): when its oldest kept job may be forgotten. May come too early. */
  readonly #queueRows = new Table(2);
  readonly kept = new Timers(this.#queueRows, 1);
  readonly keptJobs: KeptJobs;
  readonly dedupes: Dedupes;
  readonly flows: Flows;
  readonly groups: Groups;
  readonly operations = new RememberedAnswers(this);
  readonly stores = new Stores(this);
  readonly schedules = new ScheduleTable(this);
  readonly workers: (WorkerState | undefined)[] = [undefined];
  readonly freeWorkers: number[] = [];
  /** Queues that may have something to dispatch, in the order in which they are served. */
  readonly runnable: QueueState[] = [];
  readonly chores: Chore[] = [];
  /** Queues that are being purged. A purge emits a fact for each job, so it is no chore. */
  readonly purging: QueueState[] = [];
  now = 0;
  readonly wall: Wall = { aheadMs: 0, timedUntil: 0 };
  /** The feature level of the facts, and the first release that understands it: only carried. */
  level: { readonly level: number; readonly needs: string } = { level: 1, needs: "" };
  /** Made outside, and kept here so that every checkpoint tells it. */
  leaseSecret: Uint8Array | undefined = undefined;
  lastId = 0;
  /**
   * Counts the entries into strands, delays and ends, which orders them. A replay counts the same,
   * be the jobs known to it or not.
   */
  lastSeq = 0;
  /** Breaks ties between timers; it rises with every lease, which keeps their timers in a list. */
  lastTie = 0;
  /** In a replay: results and signals of jobs that are not known yet. */
  readonly orphans = new Orphans();
  /** For strands that are rebuilt out of order: behind whom the last job was put. */
  readonly lastPlaced = new Map<number, number>();
  /** Other partitions have the same gates. */
  readonly isShared: boolean;
  /** How often a process has taken the engine up, while it shares gates. */
  life = 0;
  /** Those that borrow here, and which of their lives was heard last. */
  readonly borrowers = new Map<string, number>();
  lastLot = 0;
  /** Lots that were lent since they were last asked for. */
  readonly lent: LentLot[] = [];
  /** News of gates for the other partitions. */
  readonly gateNews: GateNews[] = [];
  /** Set while facts are applied: the engine emits no facts and makes no decisions. */
  isReplaying = false;
  /** Ends a waiting job whose gate opens too late; set by the verb that ends jobs. */
  endWait!: (row: number, gate: GateLine) => void;
  /** Leases that have run out since they were last asked for, of queues that want to know. */
  readonly overdue: Overdue[] = [];
  readonly letterQueue: EngineOptions["letterQueue"];
  readonly #gone: GoneBodies | undefined;
  readonly #facts: Fact[] | undefined;
  #serial = 0;
  #lastQueue: QueueState | undefined = undefined;

  constructor(options: EngineOptions) {
    const { seed = 0, facts, gone, reserve = false } = options;
    this.seed = seed;
    this.#facts = facts;
    this.#gone = gone;
    this.keptJobs = new KeptJobs(this.#queueRows, options.keptMax);
    this.letterQueue = options.letterQueue;
    this.rings = new Rings(reserve);
    this.jobs = new JobTable(reserve);
    this.flows = new Flows(this.jobs);
    this.ids = new IdIndex(this.jobs, ID, ID_LINK);
    this.timers = new Timers(this.jobs, POS);
    this.later = new Timers(this.jobs, POS2);
    this.laneKeys = new KeyTable(seed);
    this.gates = new GateTable(seed, options.isBorrowed);
    this.isShared = options.isBorrowed !== undefined;
    this.dedupes = new Dedupes(seed);
    this.groups = new Groups(seed);
    this.lanes = new Lanes(this.rings, this.jobs, this.laneKeys, this);
    this.lineTree = new LineTree(this.rings, this.lanes, this.queues);
    this.lines = new Lines(this);
  }

  /** Many jobs and lanes are to come: the garbage collection that this may start runs now. */
  reserve(): void {
    this.jobs.reserve();
    this.rings.nodes.reserve();
    this.laneKeys.reserve();
  }

  /** Whether facts are wanted: the hot paths do not build what is not wanted. */
  get tells(): boolean {
    return this.#facts !== undefined && !this.isReplaying;
  }

  tell(fact: Fact): void {
    if (this.#facts !== undefined && !this.isReplaying) this.#facts.push(fact);
  }

  /** The body of a job is replaced, or forgotten with it. */
  bodyGone(row: number): void {
    if (this.#gone !== undefined) this.gone(this.jobs.bodies.get(row), this.jobs.int(row, SIZE));
  }

  /** Nothing has this body any more. */
  gone(body: unknown, sizeBytes: number): void {
    this.#gone?.bodies.push(body);
    this.#gone?.sizes.push(sizeBytes);
  }

  /** Time never goes back: a smaller `now` is the largest one seen. */
  clock(now: number): number {
    if (!(now >= 0 && now <= 8.64e15)) throw invalid("now", "a time in milliseconds", now);
    if (now > this.now) this.now = now;
    return this.now;
  }

  /** When a new job falls due. */
  dueAt(spec: JobSpec, now: number): number {
    if (spec.delayMs !== undefined) return now + spec.delayMs;
    return spec.runAt === undefined ? now : spec.runAt - this.wall.aheadMs;
  }

  /** The row of a job that was issued; 0 when it is no longer kept. */
  find(id: number): number {
    if (typeof id !== "number") throw invalid("id", "the number of a job", id);
    const row = this.ids.find(id);
    if (row !== 0) return this.queueOf(row).deleted ? 0 : row;
    return this.#forgotten(id);
  }

  /** 0 for a job that was issued. */
  #forgotten(id: number): 0 {
    if (Number.isInteger(id) && id >= 1 && id <= this.lastId) return 0;
    const details = { field: "id", value: id };
    throw new Refusal("JOB_NOT_FOUND", `there is no job ${id}`, details);
  }

  /** The row of a job that must still be kept. */
  keptRow(id: number): number {
    const row = this.find(id);
    if (row !== 0) return row;
    const message = `job ${id} is no longer kept`;
    throw new Refusal("ALREADY_FINISHED", message, { field: "id", value: id });
  }

  /** The row of a job that this lease holds. */
  leasedRow(id: number, lease: number): number {
    const row = this.find(id);
    const ints = this.jobs.i;
    const at = row * JOB_INTS;
    const isHeld = row !== 0 && (ints[at + META]! & STATE_BITS) === LEASED_JOB;
    return isHeld && ints[at + LEASE] === lease ? row : this.#refuseLease(row, id, lease);
  }

  #refuseLease(row: number, id: number, lease: number): never {
    if (row === 0 || this.jobs.state(row) === ENDED_JOB) {
      throw new Refusal("ALREADY_FINISHED", `job ${id} has ended`, { field: "id", value: id });
    }
    throw new Refusal("LEASE_LOST", `lease ${lease} of job ${id} is over`, {
      field: "lease",
      value: lease,
    });
  }

  queue(name: string): QueueState {
    // Calls come in runs for one queue: a comparison instead of a look-up.
    if (this.#lastQueue?.name === name && !this.#lastQueue.deleted) return this.#lastQueue;
    const queue = this.byName.get(name);
    this.#lastQueue = queue;
    if (queue === undefined) throw noQueue(name);
    return queue;
  }

  makeQueue(name: string, config: QueueConfig): QueueState {
    let index = this.queues.indexOf(undefined);
    if (index === -1) index = this.queues.length;
    // Rows of the timers go with the queues' indexes; row 0 is none.
    while (this.#queueRows.end <= index + 1) this.#queueRows.alloc();
    const queue = new QueueState(index, ++this.#serial, name, config);
    this.queues[index] = queue;
    this.byName.set(name, queue);
    this.makeTiers(queue);
    return queue;
  }

  /** Makes the tiers that the configuration has and the queue has not. */
  makeTiers(queue: QueueState): void {
    for (let tier = queue.tiers.length; tier < queue.config.tiers.length; tier++) {
      const node = this.rings.nodes.alloc();
      this.lanes.set(node, KIND, TIER);
      this.lanes.set(node, QUEUE, queue.index);
      this.lanes.set(node, AT_TIER, tier);
      this.lanes.set(node, WEIGHT, 1);
      const ring = this.rings.create(node, true);
      this.lanes.set(node, CHILD, ring);
      queue.tiers.push(node);
      queue.tierRings.push(ring);
      queue.waitingAt.push(0);
      queue.leasedAt.push(0);
    }
    this.orderTiers(queue);
  }

  /** Puts the tiers into a ring by weight, or takes them out of it when they are strict. */
  orderTiers(queue: QueueState): void {
    const order = queue.config.tierOrder;
    for (const node of queue.tiers) {
      this.rings.deactivate(node);
      this.lanes.set(node, RING, 0);
    }
    if (queue.tierRing !== 0) this.rings.drop(queue.tierRing);
    queue.tierRing = 0;
    if (order === "strict") return;
    queue.tierRing = this.rings.create(0, true);
    for (const [tier, node] of queue.tiers.entries()) {
      this.lanes.set(node, WEIGHT, order[tier]!);
      this.rings.place(node, queue.tierRing);
      if (this.rings.sizeOf(this.lanes.get(node, CHILD)) > 0) this.rings.activate(node);
    }
  }

  wake(queue: QueueState, tier: number): void {
    if (tier < queue.firstReady) queue.firstReady = tier;
    if (queue.runnable || !queue.canWork()) return;
    queue.runnable = true;
    this.runnable.push(queue);
  }

  lend(gate: GateLine, borrower: string, cost: number, jobs: number, tier: number): void {
    const at = this.now;
    const lot = ++this.lastLot;
    const until = at + LOT_MS;
    this.gates.lendFrom(gate, newLot(lot, borrower, cost, jobs, until), at);
    this.tell({ at, fact: "lent", key: gate.key, borrower, lot, cost, jobs, until });
    this.lent.push({ gate: gate.key, borrower, lot, cost, jobs, tier, until });
  }

  lotExpired(gate: GateLine, lot: Lot): void {
    gate.expire(lot, this.now);
    this.tell({ at: this.now, fact: "lot-expired", key: gate.key, lot: lot.id });
  }

  failWait(row: number, id: number, gate: GateLine): void {
    if (this.ids.find(id) === row) this.endWait(row, gate);
  }

  /** A new strand uses the set. */
  strandOf(lane: number, set: GateSet): number {
    const strand = this.lanes.strandOf(lane, set.id);
    if (this.lanes.isNew) this.gates.use(set);
    return strand;
  }

  strandGone(strand: number): void {
    this.lineTree.unbind(strand);
    const set = this.lanes.get(strand, GATES);
    if (set !== 0) this.gates.unuse(this.gates.set(set));
  }

  isForgettable(strand: number): boolean {
    const queue = this.queues[this.lanes.get(this.lanes.get(strand, IN_LANE), QUEUE)];
    return queue === undefined || queue.deleted || this.lineTree.isForgettable(strand);
  }

  weightOf(queue: number, path: readonly string[]): number {
    return weightOf(this.queues[queue]!.config.weights, path);
  }

  laneOf(row: number): number {
    return this.lanes.get(this.jobs.int(row, IN_STRAND), IN_LANE);
  }

  queueOf(row: number): QueueState {
    return this.queues[this.jobs.queue(row)]!;
  }

  tierOf(row: number): number {
    return this.jobs.tier(row);
  }
}

function noQueue(name: string): Refusal {
  return new Refusal("QUEUE_NOT_FOUND", `there is no queue ${JSON.stringify(name)}`, {
    field: "queue",
    value: name,
  });
}
