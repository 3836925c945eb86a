/** Rows per chunk, as a shift. */
const SHIFT = 12;
const MASK = (1 << SHIFT) - 1;

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
    const stored = this.#chunks[row >>> SHIFT]?.[row & MASK] ?? 0;
    if (stored > 0) return stored;
    return stored === 0 ? undefined : this.#others[-stored - 1];
  }

  set(row: number, value: unknown): void {
    const chunk = this.#chunks[row >>> SHIFT] ?? this.#make(row >>> SHIFT, value);
    if (chunk === undefined) return;
    const before = chunk[row & MASK]!;
    if (before < 0) this.#release(-before - 1);
    if (value === undefined) chunk[row & MASK] = 0;
    else if (typeof value === "number" && value > 0) chunk[row & MASK] = value;
    else chunk[row & MASK] = -1 - this.#keep(value);
  }

  #make(index: number, value: unknown): Float64Array | undefined {
    if (value === undefined) return undefined;
    while (this.#chunks.length < index) this.#chunks.push(undefined);
    const made = new Float64Array(MASK + 1);
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
