import assert from "node:assert/strict";
import { test } from "node:test";
import type { Figure } from "../figure.ts";
import { noiseText } from "./noise.ts";
import { SYNCED } from "./systems.ts";

function figure(row: string, system: string, value: number): Figure {
  return { metric: `${row}: ${system}`, value, unit: "jobs/s", conditions: { row, system } };
}

test("the furthest apart of those that measured the same is the noise", () => {
  const [text] = noiseText([
    figure(`drain, ${SYNCED}`, "NATS JetStream", 300),
    figure("drain, relaxed", "NATS JetStream", 100),
    figure("bulk produce, relaxed", "Graphile Worker", 10),
    figure("bulk produce, relaxed", "Graphile Worker, batched", 12),
  ]);
  assert.match(text!, /^Noise: 2 pairs/);
  assert.match(text!, /\n3 × apart/);
});

test("without both of a pair nothing is said", () => {
  assert.deepEqual(noiseText([figure("drain, relaxed", "NATS JetStream", 100)]), []);
  const failed = figure(`drain, ${SYNCED}`, "NATS JetStream", Number.NaN);
  assert.deepEqual(noiseText([failed, figure("drain, relaxed", "NATS JetStream", 1)]), []);
});
