import type { Table } from "../tables/table.ts";
import * as nodeFields from "./node-fields.ts";
import * as ringFields from "./ring-fields.ts";

const { IDLE, NEXT, NODE_INTS, OUT, PREV, RING, WHERE } = nodeFields;
const { IDLE_HEAD, IDLE_TAIL, RING_INTS } = ringFields;

/**
 * Members that are not active and whose position still counts, in a list per ring, longest idle
 * first. They hang in the fields that link active members into their rounds.
 */
export class IdleMembers {
  readonly #nodes: Table;
  readonly #rings: Table;

  constructor(nodes: Table, rings: Table) {
    this.#nodes = nodes;
    this.#rings = rings;
  }

  first(ring: number): number {
    return this.#rings.i[ring * RING_INTS + IDLE_HEAD]!;
  }

  link(node: number): void {
    const c = this.#nodes.i;
    const o = node * NODE_INTS;
    const m = this.#rings.i;
    const r = c[o + RING]! * RING_INTS;
    const tail = m[r + IDLE_TAIL]!;
    c[o + WHERE] = IDLE;
    c[o + NEXT] = 0;
    c[o + PREV] = tail;
    if (tail === 0) m[r + IDLE_HEAD] = node;
    else c[tail * NODE_INTS + NEXT] = node;
    m[r + IDLE_TAIL] = node;
  }

  unlink(node: number): void {
    const c = this.#nodes.i;
    const o = node * NODE_INTS;
    const m = this.#rings.i;
    const r = c[o + RING]! * RING_INTS;
    const next = c[o + NEXT]!;
    const prev = c[o + PREV]!;
    if (prev === 0) m[r + IDLE_HEAD] = next;
    else c[prev * NODE_INTS + NEXT] = next;
    if (next === 0) m[r + IDLE_TAIL] = prev;
    else c[next * NODE_INTS + PREV] = prev;
    c[o + WHERE] = OUT;
  }
}
