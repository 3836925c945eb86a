/**
 * The directory of a hash index over the rows of a `Table`: linear hashing with chains.
 *
 * Rows of one bucket hang on a chain through a link field of their own; the directory holds only
 * the first row of each. When there are more rows than buckets, one insert splits one bucket, the
 * next in line, so that growth is a few nanoseconds of every insert and never a rehash of
 * everything. What a row's hash is, and whether it is the one looked for, only the index knows: it
 * walks the chain itself, and moves the rows of a split itself, so that no call in the hot path has
 * more than one target.
 *
 * The directory never shrinks. A bucket is 4 bytes beside rows of 24 and more, whose table is not
 * given back either, and an index that was large once is likely to be large again.
 */
import type { Table } from "./table.ts";

/** Buckets per chunk, as a shift: 64 KiB, allocated in about 10 µs. The first one is used whole. */
const CHUNK_SHIFT = 14;
const CHUNK_MASK = (1 << CHUNK_SHIFT) - 1;

export class Buckets {
  /** Rows in the index. */
  size = 0;
  /** Buckets in use: rises by one at most with every split. */
  count = 1 << CHUNK_SHIFT;
  /** All ones, and at least `count - 1`. */
  #mask = CHUNK_MASK;
  readonly #heads: Int32Array[] = [new Int32Array(1 << CHUNK_SHIFT)];
  readonly #table: Table;
  readonly #link: number;

  readonly #perRow: number;

  /** `link` is the 32-bit field of the row that holds the chain. */
  constructor(table: Table, link: number, perRow = 1) {
    this.#table = table;
    this.#link = link;
    this.#perRow = perRow;
  }

  /** The first row that may have this hash, or 0. */
  first(hash: number): number {
    const bucket = this.#bucketOf(hash);
    return this.#heads[bucket >>> CHUNK_SHIFT]![bucket & CHUNK_MASK]!;
  }

  /** The row after this one in its chain, or 0. */
  next(row: number): number {
    const table = this.#table;
    return table.i[row * table.ints + this.#link]!;
  }

  /** Adds a row; if the index `isFull` then, it splits: `for each row of split(): place`. */
  add(hash: number, row: number): void {
    this.size++;
    this.place(hash, row);
  }

  /** There are fewer buckets than the rows need. */
  get isFull(): boolean {
    return this.size * this.#perRow > this.count;
  }

  /**
   * Opens one more bucket if the index is full, and takes the chain off the bucket that shares its
   * rows with it: the index must place each of them again. Answers the first.
   */
  split(): number {
    if (!this.isFull) return 0;
    const fresh = this.count++;
    if (fresh > this.#mask) this.#mask = this.#mask * 2 + 1;
    if (fresh >>> CHUNK_SHIFT === this.#heads.length) {
      this.#heads.push(new Int32Array(1 << CHUNK_SHIFT));
    }
    const old = fresh & (this.#mask >>> 1);
    const chunk = this.#heads[old >>> CHUNK_SHIFT]!;
    const row = chunk[old & CHUNK_MASK]!;
    chunk[old & CHUNK_MASK] = 0;
    return row;
  }

  /** Puts a row at the head of its chain, without counting it. */
  place(hash: number, row: number): void {
    const bucket = this.#bucketOf(hash);
    const chunk = this.#heads[bucket >>> CHUNK_SHIFT]!;
    const table = this.#table;
    table.i[row * table.ints + this.#link] = chunk[bucket & CHUNK_MASK]!;
    chunk[bucket & CHUNK_MASK] = row;
  }

  remove(hash: number, row: number): void {
    const bucket = this.#bucketOf(hash);
    const chunk = this.#heads[bucket >>> CHUNK_SHIFT]!;
    let at = chunk[bucket & CHUNK_MASK]!;
    if (at === row) {
      chunk[bucket & CHUNK_MASK] = this.next(row);
    } else {
      let before = 0;
      while (at !== row) {
        if (at === 0) throw new Error(`row ${row} is not in the index`);
        before = at;
        at = this.next(at);
      }
      this.#setNext(before, this.next(row));
    }
    this.#setNext(row, 0);
    this.size--;
  }

  get bytes(): number {
    return this.#heads.length * (4 << CHUNK_SHIFT);
  }

  /** Buckets from `count` on are not split off yet: their rows are still in the lower half. */
  #bucketOf(hash: number): number {
    const bucket = hash & this.#mask;
    return bucket < this.count ? bucket : bucket & (this.#mask >>> 1);
  }

  #setNext(row: number, next: number): void {
    const table = this.#table;
    table.i[row * table.ints + this.#link] = next;
  }
}
