import assert from "node:assert/strict";
import { test } from "node:test";
import { Table } from "../tables/table.ts";
import { FarRounds } from "./far-rounds.ts";
import { NODE_INTS } from "./node-fields.ts";

function setUp(): { far: FarRounds; nodes: number[] } {
  const table = new Table(NODE_INTS);
  return { far: new FarRounds(table), nodes: Array.from({ length: 200 }, () => table.alloc()) };
}

function drain(far: FarRounds): number[] {
  const order: number[] = [];
  for (let node = far.peek(); node !== 0; node = far.peek()) {
    order.push(node);
    far.remove(node);
  }
  return order;
}

test("an empty heap has no member and its round never comes", () => {
  const { far } = setUp();
  assert.equal(far.peek(), 0);
  assert.equal(far.round(), Number.POSITIVE_INFINITY);
});

test("members come out by round, those of one round in the order in which they came", () => {
  const { far, nodes } = setUp();
  const rounds = [9, 5, 9, 5, 7, 5, 6, 9, 8];
  for (const [i, round] of rounds.entries()) far.add(nodes[i]!, round);
  assert.equal(far.round(), 5);
  const expected = [1, 3, 5, 6, 4, 8, 0, 2, 7].map((i) => nodes[i]);
  assert.deepEqual(drain(far), expected);
  assert.equal(far.round(), Number.POSITIVE_INFINITY);
});

test("a member can be taken out from anywhere, the others keep their order", () => {
  const { far, nodes } = setUp();
  const roundOf = (node: number): number => (node * 37) % 23;
  for (const node of nodes) far.add(node, roundOf(node));
  const kept = nodes.filter((node, i) => {
    if (i % 3 !== 0) return true;
    far.remove(node);
    return false;
  });
  const expected = kept.toSorted((a, b) => roundOf(a) - roundOf(b) || a - b);
  assert.deepEqual(drain(far), expected);
});

test("a member that comes back is the last of its round", () => {
  const { far, nodes } = setUp();
  const [a, b] = [nodes[0]!, nodes[1]!];
  far.add(a, 5);
  far.add(b, 5);
  far.remove(a);
  far.add(a, 5);
  assert.deepEqual(drain(far), [b, a]);
});
