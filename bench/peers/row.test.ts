import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresOf } from "./row.ts";
import type { Outcome } from "./turns.ts";

function outcome(name: string, ...speeds: number[]): Outcome {
  const samples = speeds.map((speed) => ({ speed }));
  return { name, conditions: { durability: `${name} syncs` }, samples };
}

const SPEED = { key: "speed", row: "drain", unit: "jobs/s", better: "more" } as const;

test("a ratio is that of the medians, and its spread that of the rounds", () => {
  const [ratio] = figuresOf(SPEED, [outcome("Sluice", 10, 90, 40), outcome("B", 10, 20, 30)]);
  assert.equal(ratio?.metric, "drain: Sluice against B");
  assert.equal(ratio?.value, 2);
  assert.equal(ratio?.conditions.min, 1);
  assert.equal(ratio?.conditions.max, 4.5);
});

test("a system is ahead or behind only if it is in every round", () => {
  const standing = (...speeds: number[]): unknown =>
    figuresOf(SPEED, [outcome("Sluice", ...speeds), outcome("B", 10, 10)])[0]?.conditions.standing;
  assert.equal(standing(11, 12), "ahead");
  assert.equal(standing(9, 12), "within");
  assert.equal(standing(9, 8), "behind");
});

test("reports the difference if a figure can be 0", () => {
  const metric = { ...SPEED, unit: "jobs", better: "less", compare: "difference" } as const;
  const [some] = figuresOf(metric, [outcome("Sluice", 5), outcome("B", 0)]);
  assert.deepEqual([some?.value, some?.unit], [-5, "jobs"]);
  assert.equal(some?.conditions.standing, "behind");
  assert.equal(some?.conditions.isBehind, true);
  const [none] = figuresOf(metric, [outcome("Sluice", 0), outcome("B", 0)]);
  assert.deepEqual([none?.value, none?.conditions.standing], [0, "within"]);
});

test("Sluice is recognised by its name, at any position", () => {
  const [ratio] = figuresOf(SPEED, [outcome("B", 1), outcome("Sluice", 2)]);
  assert.equal(ratio?.metric, "drain: Sluice against B");
  assert.equal(ratio?.value, 2);
});

test("a system without this figure is in the row, with the reason", () => {
  const metric = { ...SPEED, missing: { B: "it knows no rates" } };
  const bare = { ...outcome("B"), samples: [{ other: 1 }] };
  const figures = figuresOf(metric, [outcome("Sluice", 1), bare]);
  assert.equal(figures.length, 2);
  assert.equal(figures[1]?.conditions.notMeasured, "it knows no rates");
});

test("if less is better, half of the time is twice as good", () => {
  const metric = { ...SPEED, better: "less" } as const;
  const [ratio] = figuresOf(metric, [outcome("Sluice", 1), outcome("B", 2)]);
  assert.equal(ratio?.value, 2);
});

test("a row says whether it is behind", () => {
  const [ratio] = figuresOf(SPEED, [outcome("Sluice", 1), outcome("B", 2)]);
  assert.equal(ratio?.conditions.isBehind, true);
  const [ahead] = figuresOf(SPEED, [outcome("Sluice", 3), outcome("B", 2)]);
  assert.equal(ahead?.conditions.isBehind, false);
});

test("a system that was not measured has no ratio, and a figure with the reason", () => {
  const failed = { ...outcome("B"), failure: "no such package\nat line 1" };
  const figures = figuresOf(SPEED, [outcome("Sluice", 1), failed]);
  assert.deepEqual(
    figures.map(({ metric }) => metric),
    ["drain: Sluice", "drain: B"],
  );
  assert.ok(Number.isNaN(figures[1]?.value));
  assert.equal(figures[1]?.conditions.notMeasured, "no such package");
});

test("a reference is reported and not compared", () => {
  const bare = { ...outcome("a bare sync", 9), isReference: true };
  const figures = figuresOf(SPEED, [outcome("Sluice", 1), bare]);
  assert.deepEqual(
    figures.map(({ metric }) => metric),
    ["drain: Sluice", "drain: a bare sync"],
  );
});

test("without Sluice there is nothing to compare", () => {
  const failed = { ...outcome("Sluice"), failure: "gone" };
  assert.throws(() => figuresOf(SPEED, [failed, outcome("B", 1)]), /Sluice was not measured: gone/);
});
