/**
 * Rows of a fixed number of 32-bit fields, in chunks that are allocated as needed and never moved.
 *
 * A row is a number; row 0 is never handed out, so 0 means "none" in every link field. Fields are
 * read as `t.i[row >>> SHIFT]![((row & MASK) * t.ints) + FIELD]`; 64-bit fields through `t.f` at
 * half the index. Chunks rather than one growing buffer: growth is one allocation of bounded size,
 * never a copy of everything there is.
 */

/** Rows per chunk, as a shift. 16,384 rows of 80 bytes are 1.3 MB: allocated in well under 1 ms. */
export const SHIFT = 14;
const ROWS = 1 << SHIFT;
export const MASK = ROWS - 1;

export class Table {
  readonly ints: number;
  readonly doubles: number;
  readonly i: Int32Array[] = [];
  readonly f: Float64Array[] = [];
  /** Rows in use. */
  size = 0;
  #free = 0;
  #next = 1;

  /** `ints` is the number of 32-bit fields of a row and must be even. */
  constructor(ints: number) {
    this.ints = ints;
    this.doubles = ints >>> 1;
    this.#grow();
  }

  /** A row with all fields zero. */
  alloc(): number {
    this.size++;
    const row = this.#free;
    if (row === 0) {
      if (this.#next >>> SHIFT === this.i.length) this.#grow();
      return this.#next++;
    }
    const chunk = this.i[row >>> SHIFT]!;
    const at = (row & MASK) * this.ints;
    this.#free = chunk[at]!;
    chunk[at] = 0;
    return row;
  }

  free(row: number): void {
    const chunk = this.i[row >>> SHIFT]!;
    const at = (row & MASK) * this.ints;
    // A loop: the built-in `fill` costs 25 ns a call, more than it clears.
    for (let i = at + this.ints - 1; i > at; i--) chunk[i] = 0;
    chunk[at] = this.#free;
    this.#free = row;
    this.size--;
  }

  /** One past the highest row ever handed out: for walks over all rows. */
  get end(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.i.length * ROWS * this.ints * 4;
  }

  #grow(): void {
    const buffer = new ArrayBuffer(ROWS * this.ints * 4);
    this.i.push(new Int32Array(buffer));
    this.f.push(new Float64Array(buffer));
  }
}
