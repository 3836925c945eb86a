import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlowEdge, FlowNode, JobState } from "@sluice/protocol";
import { BOX_HEIGHT, BOX_WIDTH, layoutFlow } from "./flow-layout.ts";

const node = (id: string, state: JobState = "waiting"): FlowNode => ({ id, queue: "q", state });
const edge = (from: string, to: string): FlowEdge => ({ from, to, onDependencyFailure: "fail" });

test("each job is to the right of all that it waits for, and no two boxes overlap", () => {
  const nodes = ["a", "b", "c", "d", "e"].map((id) => node(id));
  const edges = [edge("a", "b"), edge("b", "c"), edge("a", "c"), edge("d", "c"), edge("c", "e")];
  const { boxes, lines, width, height } = layoutFlow({ nodes, edges, isCut: false });
  for (const { from, to } of lines) assert.ok(from.x + BOX_WIDTH < to.x, `${from.id} ${to.id}`);
  for (const one of boxes) {
    assert.ok(one.x >= 0 && one.x + BOX_WIDTH <= width && one.y + BOX_HEIGHT <= height);
    for (const other of boxes) {
      if (one.id >= other.id || one.layer !== other.layer) continue;
      assert.ok(Math.abs(one.y - other.y) >= BOX_HEIGHT, `${one.id} ${other.id}`);
    }
  }
});

test("many alike become one box with their number; those that differ stay", () => {
  const alike = Array.from({ length: 50 }, (_, i) => `n${i}`);
  const nodes = [node("first"), ...alike.map((id, i) => node(id, i === 7 ? "dead" : "blocked"))];
  const edges = alike.map((id) => edge("first", id));
  const { boxes, lines } = layoutFlow({ nodes, edges, isCut: false });
  assert.deepEqual(boxes.map(({ count, state }) => [count, state]).sort(), [
    [1, "dead"],
    [1, "waiting"],
    [49, "blocked"],
  ]);
  assert.equal(lines.length, 2);
});

test("a job alone is a drawing too", () => {
  const { boxes, width } = layoutFlow({ nodes: [node("a")], edges: [], isCut: false });
  assert.equal(boxes.length, 1);
  assert.ok(width > BOX_WIDTH);
});
