/**
 * Finds rows by their numeric id, a positive safe integer kept in the row itself.
 *
 * Ids are dense and rising, and jobs that were added together are looked up together:
 * consecutive ids have neighbouring buckets, 16 in a cache line.
 */
import { Buckets } from "./buckets.ts";
import type { Table } from "./table.ts";

export class IdIndex {
  readonly #table: Table;
  readonly #id: number;
  readonly #buckets: Buckets;

  /** `idDouble` is the row's 64-bit field of the id, `linkInt` a 32-bit field for the index. */
  constructor(table: Table, idDouble: number, linkInt: number) {
    this.#table = table;
    this.#id = idDouble;
    this.#buckets = new Buckets(table, linkInt);
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
    let moved = buckets.split();
    while (moved !== 0) {
      const next = buckets.next(moved);
      buckets.place(hashOf(this.#idOf(moved)), moved);
      moved = next;
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
 * A block of 1,024 ids gets a place at random, its ids lie there in order. Mixed one by one, they
 * would need a cache miss each; not mixed at all, the ids that stay behind when every 64th job is
 * slow would crowd into every 64th bucket.
 */
function hashOf(id: number): number {
  const low = (id / 1024) | 0;
  const high = (id / 2 ** 42) | 0;
  let place = Math.imul(low ^ Math.imul(high, 0x27d4eb2f), 0x9e3779b1);
  place = Math.imul(place ^ (place >>> 15), 0x85ebca77);
  place ^= place >>> 13;
  return (place + (id & 1023)) | 0;
}
