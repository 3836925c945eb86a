import type { Table } from "../tables/table.ts";
import { NEXT, NODE_INTS } from "./node-fields.ts";

/**
 * The members of a ring whose next turn is several rounds away, because one of their jobs cost many
 * times their weight: a binary heap by round, then by order of arrival. A node's place in the heap
 * is kept in its NEXT field, which no list uses meanwhile.
 */
export class FarRounds {
  readonly #nodes: Table;
  #heap: number[] = [];
  #rounds: number[] = [];
  #order: number[] = [];
  #arrivals = 0;

  constructor(nodes: Table) {
    this.#nodes = nodes;
  }

  round(): number {
    return this.#rounds[0] ?? Number.POSITIVE_INFINITY;
  }

  peek(): number {
    return this.#heap[0] ?? 0;
  }

  add(node: number, round: number): void {
    const at = this.#heap.length;
    this.#heap.push(node);
    this.#rounds.push(round);
    this.#order.push(this.#arrivals++);
    this.#up(at);
  }

  remove(node: number): void {
    const at = this.#nodes.i[node * NODE_INTS + NEXT]!;
    const last = this.#heap.length - 1;
    if (at !== last) this.#swap(at, last);
    this.#heap.pop();
    this.#rounds.pop();
    this.#order.pop();
    if (at !== last) this.#down(this.#up(at));
  }

  #before(a: number, b: number): boolean {
    const d = this.#rounds[a]! - this.#rounds[b]!;
    return d < 0 || (d === 0 && this.#order[a]! < this.#order[b]!);
  }

  #up(from: number): number {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
    this.#place(at);
    return at;
  }

  #down(from: number): void {
    let at = from;
    for (;;) {
      let least = 2 * at + 1;
      if (least >= this.#heap.length) break;
      if (least + 1 < this.#heap.length && this.#before(least + 1, least)) least++;
      if (!this.#before(least, at)) break;
      this.#swap(at, least);
      at = least;
    }
    this.#place(at);
  }

  #swap(a: number, b: number): void {
    for (const column of [this.#heap, this.#rounds, this.#order]) {
      const kept = column[a]!;
      column[a] = column[b]!;
      column[b] = kept;
    }
    this.#place(a);
    this.#place(b);
  }

  #place(at: number): void {
    const node = this.#heap[at]!;
    this.#nodes.i[node * NODE_INTS + NEXT] = at;
  }
}
