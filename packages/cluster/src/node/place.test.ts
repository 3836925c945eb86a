import assert from "node:assert/strict";
import { test } from "node:test";
import { Placement, place } from "./place.ts";

const NODES = ["n1", "n2", "n3", "n4", "n5"];

function countOf(placed: readonly string[], node: string): number {
  return placed.filter((one) => one === node).length;
}

test("every node gets an even share, whatever the order in which they are named", () => {
  for (let count = 1; count <= NODES.length; count++) {
    const nodes = NODES.slice(0, count);
    const placed = place(12, nodes);
    assert.equal(placed.length, 12);
    for (const node of nodes) {
      assert.ok(Math.abs(countOf(placed, node) - 12 / count) < 1, `${node} of ${count}`);
    }
    assert.deepEqual(place(12, nodes.toReversed()), placed);
  }
});

test("without a node there is no placement", () => {
  assert.deepEqual(place(12, []), []);
});

test("a node that goes moves its own share and little else", () => {
  let moved = 0;
  let most = 0;
  for (let from = 0; from < 200; from++) {
    const nodes = [0, 1, 2].map((i) => `node-${from}-${i}`);
    const before = place(12, nodes);
    const after = place(12, nodes.slice(0, 2));
    const others = before.filter((node, p) => node !== nodes[2] && after[p] !== node).length;
    moved += others;
    most = Math.max(most, others);
  }
  assert.ok(moved / 200 < 1.5, `${moved / 200} of 8 moved without need`);
  assert.ok(most <= 5, `${most}`);
});

test("a placement is worked out again only when a node has come or gone", () => {
  const placement = new Placement(12);
  assert.deepEqual(placement.of([]), []);
  const first = placement.of(["n1", "n2"]);
  assert.deepEqual(first, place(12, ["n1", "n2"]));
  assert.equal(placement.of(["n1", "n2"]), first);
  assert.deepEqual(placement.of(["n1", "n3"]), place(12, ["n1", "n3"]));
  assert.deepEqual(placement.of(["n1"]), place(12, ["n1"]));
  assert.deepEqual(placement.of([]), []);
});
