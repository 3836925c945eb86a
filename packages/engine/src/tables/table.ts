/**
 * Rows of a fixed number of 32-bit fields in one buffer.
 *
 * A row is a number; row 0 is never handed out, so 0 means "none" in every link field. Fields are
 * read as `t.i[row * INTS + FIELD]`, 64-bit fields through `t.f` at half the index. Code that keeps
 * `t.i` in a variable must not allocate meanwhile: growing replaces it.
 *
 * Growing copies, so it must end before copies take long: a table of 16,384 rows takes a
 * millisecond to copy and goes from there straight to a reserve of 16 million rows, of which the
 * system only backs the pages that are touched. Reserving it may start a garbage collection, so a
 * caller that expects many rows asks for the reserve at once. Chunks that never move were tried
 * instead: every access paid for a second look-up, and a job took twice as long.
 */

const ROWS_FIRST = 1 << 8;
const GROWTH = 4;
/** The last size that is copied in about a millisecond. */
const ROWS_COPIED = 1 << 14;
/** Address space, not memory: 1.3 GB for jobs. Beyond it a growth copies, once per doubling. */
const ROWS_RESERVED = 1 << 24;

export class Table {
  readonly ints: number;
  readonly doubles: number;
  i: Int32Array;
  f: Float64Array;
  /** Rows in use. */
  size = 0;
  #rows = 0;
  #free = 0;
  #next = 1;

  /** `ints` is the number of 32-bit fields of a row and must be even. */
  constructor(ints: number, isReserved = false) {
    this.ints = ints;
    this.doubles = ints >>> 1;
    this.i = new Int32Array(0);
    this.f = new Float64Array(0);
    this.#resize(ROWS_FIRST);
    if (isReserved) this.reserve();
  }

  /** A row with all fields zero. */
  alloc(): number {
    this.size++;
    const row = this.#free;
    if (row === 0) {
      if (this.#next === this.#rows) this.#grow();
      return this.#next++;
    }
    const at = row * this.ints;
    this.#free = this.i[at]!;
    this.i[at] = 0;
    return row;
  }

  free(row: number): void {
    const doubles = this.f;
    const at = row * this.doubles;
    // A loop: the built-in `fill` costs 25 ns a call, more than it clears.
    for (let i = at + this.doubles - 1; i >= at; i--) doubles[i] = 0;
    this.i[row * this.ints] = this.#free;
    this.#free = row;
    this.size--;
  }

  /** One past the highest row ever handed out: for walks over all rows. */
  get end(): number {
    return this.#next;
  }

  /** Bytes that have been touched; what is reserved beyond costs nothing. */
  get bytes(): number {
    return this.#next * this.ints * 4;
  }

  #grow(): void {
    if (this.#rows < ROWS_COPIED) return this.#resize(this.#rows * GROWTH);
    if (this.#rows >= ROWS_RESERVED) return this.#resize(this.#rows * 2);
    this.reserve();
  }

  /** Many rows are to come. */
  reserve(): void {
    if (this.#rows >= ROWS_RESERVED) return;
    try {
      this.#resize(ROWS_RESERVED);
    } catch (error) {
      // So much address space is not to be had here: grow by copying, as far as it goes.
      if (!(error instanceof RangeError)) throw error;
      this.#resize(this.#rows * 2);
    }
  }

  #resize(rows: number): void {
    const buffer = new ArrayBuffer(rows * this.ints * 4);
    const ints = new Int32Array(buffer);
    ints.set(this.i);
    this.i = ints;
    this.f = new Float64Array(buffer);
    this.#rows = rows;
  }
}
