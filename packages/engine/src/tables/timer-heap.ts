/**
 * A heap of rows by time, those of one time in order of a tie-breaker: what `Timers` falls back on.
 *
 * Four children per node: half the levels of two, and the four lie side by side. Each row knows its
 * slot, so that it can be taken out from the middle. The root is slot 3, not 0 or 1: then the
 * children of slot s start at 4(s - 2), a multiple of four, and no family is ever torn between two
 * chunks.
 */
import type { Table } from "./table.ts";

/** Slots per chunk, as a shift: 320 KiB, allocated in well under 0.1 ms. */
const CHUNK_SHIFT = 14;
const CHUNK_MASK = (1 << CHUNK_SHIFT) - 1;
const ROOT = 3;

export class TimerHeap {
  readonly #table: Table;
  readonly #pos: number;
  /** Time and tie-breaker of each slot, side by side. */
  readonly #keys: Float64Array[] = [];
  readonly #rows: Int32Array[] = [];
  /** One past the last slot in use. */
  #end = ROOT;

  /** `posInt` is the 32-bit field of the row that holds its slot. */
  constructor(table: Table, posInt: number) {
    this.#table = table;
    this.#pos = posInt;
    this.#grow();
  }

  get size(): number {
    return this.#end - ROOT;
  }

  get bytes(): number {
    return this.#rows.length * (20 << CHUNK_SHIFT);
  }

  /** The earliest time and its tie-breaker, Infinity when there is none. */
  get time(): number {
    return this.#end === ROOT ? Infinity : this.#keys[0]![ROOT * 2]!;
  }

  get tie(): number {
    return this.#end === ROOT ? Infinity : this.#keys[0]![ROOT * 2 + 1]!;
  }

  /** The row of the earliest time, or 0. */
  get row(): number {
    return this.#end === ROOT ? 0 : this.#rows[0]![ROOT]!;
  }

  tieOf(slot: number): number {
    return this.#keys[slot >>> CHUNK_SHIFT]![(slot & CHUNK_MASK) * 2 + 1]!;
  }

  add(row: number, time: number, tie: number): void {
    const slot = this.#end++;
    if (slot >>> CHUNK_SHIFT === this.#rows.length) this.#grow();
    this.#rise(slot, row, time, tie);
  }

  /** Empties a slot; the position in its row is the caller's to clear. */
  remove(slot: number): void {
    const last = --this.#end;
    if (slot === last) return;
    const chunk = this.#keys[last >>> CHUNK_SHIFT]!;
    const time = chunk[(last & CHUNK_MASK) * 2]!;
    const tie = chunk[(last & CHUNK_MASK) * 2 + 1]!;
    const row = this.#rows[last >>> CHUNK_SHIFT]![last & CHUNK_MASK]!;
    if (slot !== ROOT && this.#isBefore(time, tie, (slot >>> 2) + 2)) {
      this.#rise(slot, row, time, tie);
    } else {
      this.#sink(slot, row, time, tie);
    }
  }

  #isBefore(time: number, tie: number, slot: number): boolean {
    const chunk = this.#keys[slot >>> CHUNK_SHIFT]!;
    const at = (slot & CHUNK_MASK) * 2;
    const other = chunk[at]!;
    return time < other || (time === other && tie < chunk[at + 1]!);
  }

  /** Puts a row into a free slot, or above it as far as the heap's order wants. */
  #rise(slot: number, row: number, time: number, tie: number): void {
    while (slot !== ROOT) {
      const parent = (slot >>> 2) + 2;
      if (!this.#isBefore(time, tie, parent)) break;
      this.#copy(parent, slot);
      slot = parent;
    }
    this.#set(slot, row, time, tie);
  }

  /** Puts a row into a free slot, or below it as far as the heap's order wants. */
  #sink(slot: number, row: number, time: number, tie: number): void {
    const end = this.#end;
    for (let child = (slot - 2) << 2; child < end; child = (slot - 2) << 2) {
      const chunk = this.#keys[child >>> CHUNK_SHIFT]!;
      const stop = Math.min(child + 4, end);
      let least = 0;
      let leastTime = time;
      let leastTie = tie;
      for (let at = (child & CHUNK_MASK) * 2; child < stop; child++, at += 2) {
        const childTime = chunk[at]!;
        if (childTime < leastTime || (childTime === leastTime && chunk[at + 1]! < leastTie)) {
          least = child;
          leastTime = childTime;
          leastTie = chunk[at + 1]!;
        }
      }
      if (least === 0) break;
      this.#copy(least, slot);
      slot = least;
    }
    this.#set(slot, row, time, tie);
  }

  #copy(from: number, to: number): void {
    const chunk = this.#keys[from >>> CHUNK_SHIFT]!;
    const at = (from & CHUNK_MASK) * 2;
    const row = this.#rows[from >>> CHUNK_SHIFT]![from & CHUNK_MASK]!;
    this.#set(to, row, chunk[at]!, chunk[at + 1]!);
  }

  #set(slot: number, row: number, time: number, tie: number): void {
    const chunk = this.#keys[slot >>> CHUNK_SHIFT]!;
    const at = (slot & CHUNK_MASK) * 2;
    chunk[at] = time;
    chunk[at + 1] = tie;
    this.#rows[slot >>> CHUNK_SHIFT]![slot & CHUNK_MASK] = row;
    const table = this.#table;
    table.i[row * table.ints + this.#pos] = slot;
  }

  #grow(): void {
    this.#keys.push(new Float64Array(2 << CHUNK_SHIFT));
    this.#rows.push(new Int32Array(1 << CHUNK_SHIFT));
  }
}
