/**
 * Many short lists of row numbers. A list has room for a power of two of them; it lies in a chunk
 * that holds lists of that size only. A JavaScript array takes 184 bytes for two numbers, this
 * takes 8.
 */
const CHUNK_SHIFT = 16;
const CHUNK = 1 << CHUNK_SHIFT;

/** The longest list. */
export const LIST_MAX = CHUNK;

export class RowLists {
  readonly #chunks: Int32Array[] = [];
  /** By the logarithm of the size: lists given back, and the chunk that is being cut up. */
  readonly #free: number[][] = Array.from({ length: CHUNK_SHIFT + 1 }, () => []);
  readonly #next = new Int32Array(CHUNK_SHIFT + 1).fill(-1);

  /** The number of a list with room for `1 << size` rows. */
  take(size: number): number {
    const known = this.#free[size]!.pop();
    if (known !== undefined) return known;
    let list = this.#next[size]!;
    if (list === -1 || (list & (CHUNK - 1)) === 0) {
      list = this.#chunks.length << CHUNK_SHIFT;
      this.#chunks.push(new Int32Array(CHUNK));
    }
    this.#next[size] = list + (1 << size);
    return list;
  }

  release(list: number, size: number): void {
    this.#free[size]!.push(list);
  }

  get(list: number, place: number): number {
    return this.#chunks[list >>> CHUNK_SHIFT]![(list & (CHUNK - 1)) + place]!;
  }

  set(list: number, place: number, row: number): void {
    this.#chunks[list >>> CHUNK_SHIFT]![(list & (CHUNK - 1)) + place] = row;
  }

  /** Moves the first rows of a list to a longer or shorter one. */
  resize(list: number, from: number, to: number, count: number): number {
    const moved = this.take(to);
    for (let i = 0; i < count; i++) this.set(moved, i, this.get(list, i));
    this.release(list, from);
    return moved;
  }
}
