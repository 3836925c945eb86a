import assert from "node:assert/strict";
import { test } from "node:test";
import type { Conditions, Figure } from "../figure.ts";
import { pageOf, withSection } from "./page.ts";

const SPREAD = { min: 1, max: 2 };

function ratio(row: string, against: string, value: number, more: Conditions = {}): Figure {
  const conditions = { row, against, ...SPREAD, ...more };
  const target = { atLeast: 10 };
  return { metric: `${row}: Sluice against ${against}`, value, unit: "×", conditions, target };
}

function absolute(row: string, system: string, value: number, more: Conditions = {}): Figure {
  const conditions = { row, system, durability: `${system} syncs`, ...SPREAD, ...more };
  return { metric: `${row}: ${system}`, value, unit: "jobs/s", conditions };
}

const SYSTEMS = ["Sluice", "BullMQ"].map((name) => ({
  name,
  doesBeyond: `${name} flows`,
  fairness: "none",
  limits: "a limiter",
}));

function page(...figures: Figure[]) {
  return pageOf({ figures, systems: SYSTEMS, about: "A machine." });
}

test("ratios stand before absolute figures, and each row has its plot", () => {
  const { section, plots } = page(
    ratio("bulk produce", "BullMQ", 12),
    absolute("bulk produce", "Sluice", 1200),
    absolute("bulk produce", "BullMQ", 100),
  );
  assert.ok(section.includes("| BullMQ | **12 ×** (1 – 2) | 100 jobs/s (1 – 2) |"));
  assert.ok(section.includes("![bulk produce](benchmarks/bulk-produce.svg)"));
  assert.deepEqual([...plots.keys()], ["bulk-produce.svg"]);
});

test("a row in which Sluice is behind says so, with the reason", () => {
  const { section } = page(ratio("drain", "BullMQ", 0.5, { behind: "a reason" }));
  assert.ok(section.includes("Of 1 comparisons Sluice is ahead in 0."));
  assert.ok(section.includes("- A reason:\n  - drain: Sluice against BullMQ: 0.5 ×\n"));
});

test("ahead but short of the target is told too", () => {
  const { section } = page(ratio("drain", "BullMQ", 4));
  assert.ok(section.includes("- drain: Sluice against BullMQ: 4 × (meant: ≥ 10)"));
});

test("a peer that could not be measured is in the table, with the reason", () => {
  const { section } = page(absolute("drain", "BullMQ", Number.NaN, { notMeasured: "no package" }));
  assert.ok(section.includes("| BullMQ |  | not measured: no package |"));
});

test("what peers do beyond Sluice is told, and durabilities stand once", () => {
  const { section } = page(absolute("drain", "BullMQ", 1), absolute("produce", "BullMQ", 2));
  assert.ok(section.includes("BullMQ flows"));
  assert.ok(!section.includes("Sluice flows"));
  assert.equal(section.split("BullMQ syncs").length, 2);
});

test("a section is written anew and the others stay", () => {
  const first = withSection(undefined, "one");
  const more = `${first}\n## Another\n`;
  const second = withSection(more, "two");
  assert.ok(second.includes("two") && !second.includes("one\n"));
  assert.ok(second.startsWith("# Benchmarks"));
  assert.ok(second.endsWith("\n## Another\n"));
  assert.equal(withSection(second, "two"), second);
});
