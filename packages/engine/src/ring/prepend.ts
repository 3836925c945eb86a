import { NEXT, NODE_INTS, PREV } from "./node-fields.ts";

/**
 * Moves a whole list of nodes to the front of another. A list is two fields of a ring, its head and
 * its tail; `from` and `to` are the places of the heads.
 */
export function prepend(rings: Int32Array, nodes: Int32Array, from: number, to: number): void {
  const tail = rings[from + 1]!;
  if (tail === 0) return;
  const next = rings[to]!;
  nodes[tail * NODE_INTS + NEXT] = next;
  if (next === 0) rings[to + 1] = tail;
  else nodes[next * NODE_INTS + PREV] = tail;
  rings[to] = rings[from]!;
  rings[from] = 0;
  rings[from + 1] = 0;
}
