/**
 * What falls due when: rows by time, those of one time in order of a tie-breaker.
 *
 * Leases of one length fall due in the order they were given, so most times come rising. Those hang
 * in runs, lists in order of time: a row joins a run at its end and leaves it anywhere, in
 * constant time. There are four, for leases of several lengths: a row joins the run whose end is
 * nearest before it. What fits no run, as delays drawn at random, goes to a heap. The next row is
 * the first of one of the runs or the heap. A heap alone took 175 ns to give and take back a lease
 * among 10,000, this takes 59. For that the tie-breakers of one time must rise as well, as a count
 * of dispatches does; with the id of the job, which does not, it is 122 against 118.
 *
 * The position field of a row is 0 while it has no timer, its slot while it is in the heap, and its
 * node with a minus sign while it is in a run.
 */
import { Table } from "./table.ts";
import { TimerHeap } from "./timer-heap.ts";

const RUNS = 4;

// Fields of a node: two of 64 bits, then four of 32.
const TIME = 0;
const TIE = 1;
const ROW = 4;
const BEFORE = 5;
const AFTER = 6;
const RUN = 7;
const INTS = 8;

export class Timers {
  readonly #table: Table;
  readonly #pos: number;
  /** Made when a time first fits no run: most timers never need it. */
  #heap: TimerHeap | undefined = undefined;
  readonly #nodes = new Table(INTS);
  readonly #first = new Int32Array(RUNS);
  readonly #last = new Int32Array(RUNS);
  /** Time and tie-breaker at both ends of each run: read with every call, so kept side by side. */
  readonly #firstKeys = new Float64Array(RUNS * 2).fill(Infinity);
  readonly #lastKeys = new Float64Array(RUNS * 2).fill(-Infinity);
  /** The run that was joined last. */
  #recent = 0;

  /** `posInt` is a 32-bit field of the row for the position; it must be 0 to begin with. */
  constructor(table: Table, posInt: number) {
    this.#table = table;
    this.#pos = posInt;
  }

  get size(): number {
    return this.#nodes.size + (this.#heap?.size ?? 0);
  }

  get bytes(): number {
    return this.#nodes.bytes + (this.#heap?.bytes ?? 0);
  }

  has(row: number): boolean {
    return this.#posOf(row) !== 0;
  }

  add(row: number, time: number, tie: number): void {
    const table = this.#table;
    const isFree = table.i[row * table.ints + this.#pos] === 0;
    if (!isFree || !Number.isFinite(time) || !Number.isFinite(tie)) refuse(row, isFree, time, tie);
    this.#put(row, time, tie);
  }

  remove(row: number): void {
    const table = this.#table;
    const at = row * table.ints + this.#pos;
    const pos = table.i[at]!;
    if (pos >= 0) return this.#take(row, this.#heldPos(row));
    table.i[at] = 0;
    this.#unlink(-pos);
  }

  /** Changes the time of a row and keeps its tie-breaker. */
  move(row: number, time: number): void {
    const pos = this.#heldPos(row);
    if (!Number.isFinite(time)) refuse(row, true, time, 0);
    const tie = pos > 0 ? this.#heap!.tieOf(pos) : this.#key(-pos, TIE);
    this.#take(row, pos);
    this.#put(row, time, tie);
  }

  /** The earliest time, Infinity when there is none. */
  peekTime(): number {
    const run = this.#earliestRun();
    return run < 0 ? (this.#heap?.time ?? Infinity) : this.#firstKeys[run * 2]!;
  }

  /** The row of the earliest time, or 0. */
  peek(): number {
    const run = this.#earliestRun();
    return run < 0 ? (this.#heap?.row ?? 0) : this.#int(this.#first[run]!, ROW);
  }

  /** Takes out the row of the earliest time, or answers 0. */
  pop(): number {
    const row = this.peek();
    if (row !== 0) this.remove(row);
    return row;
  }

  #put(row: number, time: number, tie: number): void {
    const run = this.#runFor(time, tie);
    if (run >= 0) return this.#append(run, row, time, tie);
    this.#heap ??= new TimerHeap(this.#table, this.#pos);
    this.#heap.add(row, time, tie);
  }

  #take(row: number, pos: number): void {
    this.#setPos(row, 0);
    if (pos > 0) this.#heap!.remove(pos);
    else this.#unlink(-pos);
  }

  /** The run whose end is nearest before this time, or -1. */
  #runFor(time: number, tie: number): number {
    const keys = this.#lastKeys;
    // Leases that are given in one millisecond end in one: no other run ends nearer.
    const recent = this.#recent;
    if (keys[recent * 2] === time && keys[recent * 2 + 1]! <= tie) return recent;
    let best = -1;
    let bestTime = -Infinity;
    for (let run = 0; run < RUNS; run++) {
      const last = keys[run * 2]!;
      if (last > time || (last === time && keys[run * 2 + 1]! > tie)) continue;
      if (best >= 0 && last <= bestTime) continue;
      best = run;
      bestTime = last;
    }
    if (best >= 0) this.#recent = best;
    return best;
  }

  /** The run whose first row is the next one due, or -1 if the heap's is (or there is none). */
  #earliestRun(): number {
    const keys = this.#firstKeys;
    let best = -1;
    let bestTime = this.#heap?.time ?? Infinity;
    let bestTie = this.#heap?.tie ?? Infinity;
    for (let run = 0; run < RUNS; run++) {
      const first = keys[run * 2]!;
      if (first > bestTime || (first === bestTime && keys[run * 2 + 1]! >= bestTie)) continue;
      best = run;
      bestTime = first;
      bestTie = keys[run * 2 + 1]!;
    }
    return best;
  }

  #append(run: number, row: number, time: number, tie: number): void {
    const nodes = this.#nodes;
    const node = nodes.alloc();
    const at = node * INTS;
    const keys = nodes.f;
    keys[(at >>> 1) + TIME] = time;
    keys[(at >>> 1) + TIE] = tie;
    const last = this.#last[run]!;
    const ints = nodes.i;
    ints[at + ROW] = row;
    ints[at + BEFORE] = last;
    ints[at + RUN] = run;
    if (last === 0) this.#setFirst(run, node);
    else ints[last * INTS + AFTER] = node;
    this.#last[run] = node;
    const lastKeys = this.#lastKeys;
    lastKeys[run * 2] = time;
    lastKeys[run * 2 + 1] = tie;
    const table = this.#table;
    table.i[row * table.ints + this.#pos] = -node;
  }

  #unlink(node: number): void {
    const nodes = this.#nodes;
    const ints = nodes.i;
    const at = node * INTS;
    const run = ints[at + RUN]!;
    const before = ints[at + BEFORE]!;
    const after = ints[at + AFTER]!;
    if (before === 0) this.#setFirst(run, after);
    else ints[before * INTS + AFTER] = after;
    if (after === 0) this.#setLast(run, before);
    else ints[after * INTS + BEFORE] = before;
    nodes.free(node);
  }

  #setFirst(run: number, node: number): void {
    this.#first[run] = node;
    const from = this.#nodes.f;
    const at = node * (INTS / 2);
    const keys = this.#firstKeys;
    keys[run * 2] = node === 0 ? Infinity : from[at + TIME]!;
    keys[run * 2 + 1] = node === 0 ? Infinity : from[at + TIE]!;
  }

  #setLast(run: number, node: number): void {
    this.#last[run] = node;
    const from = this.#nodes.f;
    const at = node * (INTS / 2);
    const keys = this.#lastKeys;
    keys[run * 2] = node === 0 ? -Infinity : from[at + TIME]!;
    keys[run * 2 + 1] = node === 0 ? -Infinity : from[at + TIE]!;
  }

  #key(node: number, field: number): number {
    return this.#nodes.f[node * (INTS / 2) + field]!;
  }

  #int(node: number, field: number): number {
    return this.#nodes.i[node * INTS + field]!;
  }

  #heldPos(row: number): number {
    const pos = this.#posOf(row);
    if (pos === 0) throw new Error(`row ${row} has no timer`);
    return pos;
  }

  #posOf(row: number): number {
    const table = this.#table;
    return table.i[row * table.ints + this.#pos]!;
  }

  #setPos(row: number, pos: number): void {
    const table = this.#table;
    table.i[row * table.ints + this.#pos] = pos;
  }
}

/** Comparisons with NaN are all false and would undo the order; Infinity means "none". */
function refuse(row: number, isFree: boolean, time: number, tie: number): never {
  if (!isFree) throw new Error(`row ${row} has a timer already`);
  throw new Error(`a timer cannot be at ${Number.isFinite(time) ? tie : time}`);
}
