/** Finds rows by two 32-bit fields of theirs, such as a lane and a set of gates. */
import { Buckets } from "./buckets.ts";
import type { Table } from "./table.ts";

export class PairIndex {
  readonly #table: Table;
  readonly #a: number;
  readonly #b: number;
  readonly #buckets: Buckets;

  /** `aInt` and `bInt` are the row's fields looked for, `linkInt` one for the index. */
  constructor(table: Table, aInt: number, bInt: number, linkInt: number) {
    this.#table = table;
    this.#a = aInt;
    this.#b = bInt;
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

  /** The row with these two fields, or 0. */
  find(a: number, b: number): number {
    return this.#search(a, b, hashOf(a, b));
  }

  /** Adds a row whose fields are set and not in the index yet. */
  insert(row: number): void {
    const a = this.#field(row, this.#a);
    const b = this.#field(row, this.#b);
    const hash = hashOf(a, b);
    if (this.#search(a, b, hash) !== 0) {
      throw new Error(`pair ${a}, ${b} is in the index already`);
    }
    const buckets = this.#buckets;
    buckets.add(hash, row);
    let moved = buckets.split();
    while (moved !== 0) {
      const next = buckets.next(moved);
      buckets.place(this.#hashOfRow(moved), moved);
      moved = next;
    }
  }

  remove(row: number): void {
    this.#buckets.remove(this.#hashOfRow(row), row);
  }

  #search(a: number, b: number, hash: number): number {
    const table = this.#table;
    const buckets = this.#buckets;
    let row = buckets.first(hash);
    while (row !== 0) {
      const chunk = table.i;
      const at = row * table.ints;
      if (chunk[at + this.#a] === a && chunk[at + this.#b] === b) return row;
      row = buckets.next(row);
    }
    return 0;
  }

  #hashOfRow(row: number): number {
    return hashOf(this.#field(row, this.#a), this.#field(row, this.#b));
  }

  #field(row: number, field: number): number {
    const table = this.#table;
    return table.i[row * table.ints + field]!;
  }
}

/** Both halves are row numbers, dense and small: neither a sum nor an exclusive or would do. */
function hashOf(a: number, b: number): number {
  let hash = Math.imul(a, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ b, 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae3d);
  return hash ^ (hash >>> 16);
}
