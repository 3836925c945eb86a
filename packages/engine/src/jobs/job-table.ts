import type { ScheduleRun } from "../schedules/schedule.ts";
import type { Notebook } from "../steps/step-types.ts";
import { Bodies, Table } from "../tables/table.ts";
import type { DedupeMode, Ending, HistoryEntry, JobSpec, LogLine } from "../types.ts";
import type { Backoff } from "./backoff.ts";
import * as jobFields from "./job-fields.ts";

const { HAS_EXTRA, IN_STRAND, JOB_INTS, LEASE, META } = jobFields;

export interface Extra {
  deadline: number;
  /** Times on the wall: of the deadline, and of the delay that the job is in. Infinity: neither. */
  wallDeadline: number;
  runAt: number;
  maxWaitMs: number;
  dedupe: number;
  dedupeMode: DedupeMode | undefined;
  /** `keepLast`: the job to add when this one ends. */
  followUp: JobSpec | undefined;
  group: number;
  leaseMs: number;
  backoff: Backoff | undefined;
  /** Of the last failure. */
  error: string | undefined;
  /** Which failure that is (queries/fold-error.ts); 0: not reckoned yet. */
  failure: number;
  stack: string | undefined;
  progress: unknown;
  /** What its handler has written about it, and who held it last. */
  log: readonly LogLine[] | undefined;
  worker: string | undefined;
  /** The lease numbers that were used before the job was redriven or retried by hand. */
  leasesBefore: number;
  /** How often it died, was redriven or was retried by hand after its end. */
  generation: number;
  result: unknown;
  history: HistoryEntry[] | undefined;
  /** A dead letter: where and when it died, of what, and the strand it goes back to. */
  origin:
    | { queue: string; spec: JobSpec; attempts: number; reason: string; at: number }
    | undefined;
  /** Its neighbours among the dead that came from the same queue. */
  deadNext: number;
  deadPrev: number;
  /** The tick that added it. */
  schedule: ScheduleRun | undefined;
  /** What it remembers of the steps of its handler. */
  steps: Notebook | undefined;
  /** What `WAIT_TOO_LONG` said. */
  waited: { gate: string; waitMs: number; maxWaitMs: number } | undefined;
}

function newExtra(): Extra {
  return {
    deadline: Number.POSITIVE_INFINITY,
    wallDeadline: Number.POSITIVE_INFINITY,
    runAt: Number.POSITIVE_INFINITY,
    maxWaitMs: Number.POSITIVE_INFINITY,
    dedupe: 0,
    dedupeMode: undefined,
    followUp: undefined,
    group: 0,
    leaseMs: 0,
    backoff: undefined,
    error: undefined,
    failure: 0,
    stack: undefined,
    progress: undefined,
    log: undefined,
    worker: undefined,
    leasesBefore: 0,
    generation: 0,
    result: undefined,
    history: undefined,
    origin: undefined,
    deadNext: 0,
    deadPrev: 0,
    schedule: undefined,
    steps: undefined,
    waited: undefined,
  };
}

const ENDINGS: readonly (Ending | undefined)[] = [
  undefined,
  "finished",
  "failed",
  "cancelled",
  "expired",
  "dead",
  "wait-too-long",
];

export const FINISHED = ENDINGS.indexOf("finished");

/** How a job ended, in three bits; 0: it has not. */
export function endingCode(ending: Ending | undefined): number {
  // How most jobs end: a search of the array takes as long as the rest of what an end writes.
  if (ending === "finished") return FINISHED;
  return ending === undefined ? 0 : ENDINGS.indexOf(ending);
}

export function endingOf(code: number): Ending | undefined {
  return ENDINGS[code];
}

const ENDING_BITS = 7 << 1;
const POLICY_GATES = 1 << 4;
const ORDERED = 1 << 5;
const IN_ORDER = 1 << 6;
const NEEDED = 1 << 7;
const DEPENDENT = 1 << 8;
const NODE_SHIFT = 9;
const NODE_BITS = -1 << NODE_SHIFT;

const MORE = ~(ENDING_BITS | POLICY_GATES);

/** Jobs that can wait for each other at once: the bits that a row has for their nodes. */
export const NODES_MAX = 2 ** (32 - NODE_SHIFT) - 1;

/** Values per chunk of a `Slots`, as a shift. */
const SHIFT = 12;
const MASK = (1 << SHIFT) - 1;

/** Values by row, in chunks, made only where something is stored. */
export class ChunkedArray<T> {
  readonly #chunks: (T | undefined)[][] = [];

  /** Nothing was ever stored. */
  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  get(row: number): T | undefined {
    return this.#chunks[row >>> SHIFT]?.[row & MASK];
  }

  set(row: number, value: T | undefined): void {
    const chunk = this.#chunks[row >>> SHIFT];
    if (chunk !== undefined) chunk[row & MASK] = value;
    else if (value !== undefined) {
      const made: (T | undefined)[] = new Array(MASK + 1);
      made[row & MASK] = value;
      while (this.#chunks.length < row >>> SHIFT) this.#chunks.push(undefined as never);
      this.#chunks[row >>> SHIFT] = made;
    }
  }
}

/** The jobs: rows, their extras and bodies. */
export class JobTable extends Table {
  readonly extras = new ChunkedArray<Extra>();
  readonly bodies = new Bodies();

  constructor(isReserved = false) {
    super(JOB_INTS, isReserved);
  }

  int(row: number, field: number): number {
    return this.i[row * JOB_INTS + field]!;
  }

  setInt(row: number, field: number, value: number): void {
    this.i[row * JOB_INTS + field] = value;
  }

  num(row: number, field: number): number {
    return this.f[row * (JOB_INTS / 2) + field]!;
  }

  setNum(row: number, field: number, value: number): void {
    this.f[row * (JOB_INTS / 2) + field] = value;
  }

  /** One of the states; 0 for a row that is no job. */
  state(row: number): number {
    return this.i[row * JOB_INTS + META]! & 15;
  }

  setState(row: number, state: number): void {
    const ints = this.i;
    const at = row * JOB_INTS + META;
    ints[at] = (ints[at]! & ~15) | state;
  }

  tier(row: number): number {
    return (this.i[row * JOB_INTS + META]! >>> 4) & 15;
  }

  queue(row: number): number {
    return this.i[row * JOB_INTS + META]! >>> 8;
  }

  /** Makes the job belong to a strand of this tier of this queue. */
  setPlace(row: number, strand: number, queue: number, tier: number): void {
    const ints = this.i;
    const at = row * JOB_INTS;
    ints[at + IN_STRAND] = strand;
    ints[at + META] = (ints[at + META]! & 15) | (tier << 4) | (queue << 8);
  }

  extra(row: number): Extra | undefined {
    return (this.int(row, HAS_EXTRA) & 1) === 0 ? undefined : this.extras.get(row);
  }

  needExtra(row: number): Extra {
    const had = this.extra(row);
    if (had !== undefined) return had;
    const made = newExtra();
    this.extras.set(row, made);
    this.setInt(row, HAS_EXTRA, this.int(row, HAS_EXTRA) | 1);
    return made;
  }

  /** How an ended job ended. Kept in the row: most jobs finish, and need no extra to say so. */
  ending(row: number): Ending | undefined {
    return ENDINGS[(this.int(row, HAS_EXTRA) >>> 1) & 7];
  }

  setEnding(row: number, ending: Ending | undefined): void {
    const ints = this.i;
    const at = row * JOB_INTS + HAS_EXTRA;
    ints[at] = (ints[at]! & ~ENDING_BITS) | (endingCode(ending) << 1);
  }

  /** Whether the job's gates were put on it by the policy of its queue. */
  hasPolicyGates(row: number): boolean {
    return (this.int(row, HAS_EXTRA) & POLICY_GATES) !== 0;
  }

  setPolicyGates(row: number): void {
    this.setInt(row, HAS_EXTRA, this.int(row, HAS_EXTRA) | POLICY_GATES);
  }

  /** Whether the job waits for the ordered jobs of its lane that were there before it. */
  isOrdered(row: number): boolean {
    return (this.int(row, HAS_EXTRA) & ORDERED) !== 0;
  }

  setOrdered(row: number): void {
    this.setInt(row, HAS_EXTRA, this.int(row, HAS_EXTRA) | ORDERED);
  }

  /** Whether the job has a place in the order of its lane: the first one, or behind others. */
  isInOrder(row: number): boolean {
    return (this.int(row, HAS_EXTRA) & IN_ORDER) !== 0;
  }

  setInOrder(row: number, isIn: boolean): void {
    const flags = this.int(row, HAS_EXTRA);
    this.setInt(row, HAS_EXTRA, isIn ? flags | IN_ORDER : flags & ~IN_ORDER);
  }

  /** Whether there is anything that most jobs have not: an extra, an order, a part in a flow. */
  hasMore(row: number): boolean {
    return (this.i[row * JOB_INTS + HAS_EXTRA]! & MORE) !== 0;
  }

  /** It has ended, and is not forgotten before those have that wait for it. */
  isNeeded(row: number): boolean {
    return (this.int(row, HAS_EXTRA) & NEEDED) !== 0;
  }

  setNeeded(row: number, isNeeded: boolean): void {
    const bits = this.int(row, HAS_EXTRA);
    this.setInt(row, HAS_EXTRA, isNeeded ? bits | NEEDED : bits & ~NEEDED);
  }

  /** Whether the job waited for others, or does. */
  isDependent(row: number): boolean {
    return (this.int(row, HAS_EXTRA) & DEPENDENT) !== 0;
  }

  setDependent(row: number): void {
    this.setInt(row, HAS_EXTRA, this.int(row, HAS_EXTRA) | DEPENDENT);
  }

  /** Its node among the jobs that wait for each other; 0: it is none of them. */
  node(row: number): number {
    return this.int(row, HAS_EXTRA) >>> NODE_SHIFT;
  }

  setNode(row: number, node: number): void {
    this.setInt(row, HAS_EXTRA, (this.int(row, HAS_EXTRA) & ~NODE_BITS) | (node << NODE_SHIFT));
  }

  /** How often the job was handed out since it was added, redriven or retried by hand. */
  deliveries(row: number): number {
    return this.int(row, LEASE) - (this.extra(row)?.leasesBefore ?? 0);
  }

  /** Counts them from here on. Lease numbers go on: an old one must not fit a new lease. */
  resetDeliveries(row: number): void {
    const lease = this.int(row, LEASE);
    if (lease > 0) this.needExtra(row).leasesBefore = lease;
  }

  /** What follows is another run of the job: what a handler did before does not count for it. */
  nextGeneration(row: number): void {
    this.needExtra(row).generation++;
  }

  /** Frees the row and what hangs on it. */
  discard(row: number): void {
    if ((this.i[row * JOB_INTS + HAS_EXTRA]! & 1) !== 0) this.extras.set(row, undefined);
    if (!this.bodies.isEmpty) this.bodies.set(row, undefined);
    this.free(row);
  }
}
