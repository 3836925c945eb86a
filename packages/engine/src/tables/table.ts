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

/** Bodies per chunk, as a shift. */
const BODIES_SHIFT = 12;
const BODIES_MASK = (1 << BODIES_SHIFT) - 1;

/**
 * What callers gave with their jobs, by row. A broker names most bodies by a number, its place in
 * the log: a number takes 8 bytes here, and in an array of all kinds of values it took 24, each an
 * object that the collector had to visit. Any other value is in a list whose places are used again:
 * those are the bodies that are not in the log yet.
 */
export class Bodies {
  /** A number itself; below 0: the place of another value in the list; 0: nothing. */
  readonly #chunks: (Float64Array | undefined)[] = [];
  readonly #others: unknown[] = [];
  readonly #free: number[] = [];

  /** Nothing was ever stored. */
  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  get(row: number): unknown {
    const stored = this.#chunks[row >>> BODIES_SHIFT]?.[row & BODIES_MASK] ?? 0;
    if (stored > 0) return stored;
    return stored === 0 ? undefined : this.#others[-stored - 1];
  }

  set(row: number, value: unknown): void {
    const chunk = this.#chunks[row >>> BODIES_SHIFT] ?? this.#make(row >>> BODIES_SHIFT, value);
    if (chunk === undefined) return;
    const before = chunk[row & BODIES_MASK]!;
    if (before < 0) this.#release(-before - 1);
    if (value === undefined) chunk[row & BODIES_MASK] = 0;
    else if (typeof value === "number" && value > 0) chunk[row & BODIES_MASK] = value;
    else chunk[row & BODIES_MASK] = -1 - this.#keep(value);
  }

  #make(index: number, value: unknown): Float64Array | undefined {
    if (value === undefined) return undefined;
    while (this.#chunks.length < index) this.#chunks.push(undefined);
    const made = new Float64Array(BODIES_MASK + 1);
    this.#chunks[index] = made;
    return made;
  }

  #keep(value: unknown): number {
    const place = this.#free.pop() ?? this.#others.length;
    this.#others[place] = value;
    return place;
  }

  #release(place: number): void {
    this.#others[place] = undefined;
    this.#free.push(place);
  }
}
