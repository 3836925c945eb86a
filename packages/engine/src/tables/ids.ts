/**
 * Finds rows by their numeric id, a positive safe integer kept in the row itself.
 *
 * Ids are dense and rising, and jobs that were added together are looked up together:
 * consecutive ids have neighbouring buckets, 16 in a cache line.
 */
import { Buckets } from "./buckets.ts";
import type { Table } from "./table.ts";

/**
 * With one bucket a row, up to half of the consecutive ids would share theirs with an id half the
 * directory away: it is rarely a power of two. With 64 % sharing, as each 1,024 ids had a place at
 * random, a job took 0.65 µs of the engine beside 100,000 kept ones; it takes 0.59.
 */
const BUCKETS_PER_ROW = 1.5;

export class IdIndex {
  readonly #table: Table;
  readonly #id: number;
  readonly #buckets: Buckets;

  /** `idDouble` is the row's 64-bit field of the id, `linkInt` a 32-bit field for the index. */
  constructor(table: Table, idDouble: number, linkInt: number) {
    this.#table = table;
    this.#id = idDouble;
    this.#buckets = new Buckets(table, linkInt, BUCKETS_PER_ROW);
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Buckets in use: what growth costs is how far one call moves this. */
  get buckets(): number {
    return this.#buckets.count;
  }

  get bytes(): number {
    return this.#buckets.bytes;
  }

  /** The row with this id, or 0. */
  find(id: number): number {
    return this.#search(id, hashOf(id));
  }

  /** Adds a row whose id is set and not in the index yet. */
  insert(row: number): void {
    const id = this.#idOf(row);
    if (this.#search(id, hashOf(id)) !== 0) throw new Error(`id ${id} is in the index already`);
    this.insertNew(row);
  }

  /**
   * The same for an id that was just allocated, so that no row has it. Looking for it would still
   * fetch a row of another job into the cache, 100 ns of an add among millions.
   */
  insertNew(row: number): void {
    const buckets = this.#buckets;
    buckets.add(hashOf(this.#idOf(row)), row);
    if (buckets.isFull) this.#grow();
  }

  #grow(): void {
    for (let i = 0; i < BUCKETS_PER_ROW; i++) this.#placeAgain(this.#buckets.split());
  }

  #placeAgain(first: number): void {
    const buckets = this.#buckets;
    let row = first;
    while (row !== 0) {
      const next = buckets.next(row);
      buckets.place(hashOf(this.#idOf(row)), row);
      row = next;
    }
  }

  remove(row: number): void {
    this.#buckets.remove(hashOf(this.#idOf(row)), row);
  }

  #search(id: number, hash: number): number {
    const buckets = this.#buckets;
    let row = buckets.first(hash);
    while (row !== 0 && this.#idOf(row) !== id) row = buckets.next(row);
    return row;
  }

  #idOf(row: number): number {
    const table = this.#table;
    return table.f[row * table.doubles + this.#id]!;
  }
}

/**
 * Consecutive ids have buckets of their own: an id keeps its place among the million of its block,
 * but for the lowest ten bits, which are mixed for each 1,024 of them. Without that mix the ids
 * that stay behind when every 64th job is slow would crowd into every 64th bucket. If each 1,024
 * ids had a place at random, the oldest of a full index would be behind another job two times in
 * three, and the row of that job is no longer in the cache. The blocks themselves lie at random.
 */
function hashOf(id: number): number {
  const low = id | 0;
  // Divisions of doubles take longer than all the rest: only an id of more than 31 bits needs them.
  const isSmall = low === id;
  let block = Math.imul(isSmall ? low >> 20 : (id / 2 ** 20) | 0, 0x9e3779b1);
  block = Math.imul(block ^ (block >>> 15), 0x85ebca77);
  block ^= block >>> 13;
  const high = isSmall ? low >> 10 : (id / 1024) | 0;
  return (low ^ (Math.imul(high ^ block, 0x9e3779b1) >>> 22)) + (block << 10);
}
