import assert from "node:assert/strict";
import { test } from "node:test";
import type { Conditions, Figure } from "../figure.ts";
import { pageOf, withSection } from "./page.ts";

const SPREAD = { min: 1, max: 2 };

function ratio(row: string, against: string, value: number, more: Conditions = {}): Figure {
  const standing = value < 1 ? "behind" : "ahead";
  const conditions = { row, against, standing, compare: "ratio", ...SPREAD, ...more };
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

function page(...figures: Figure[]): string {
  return pageOf({ figures, systems: SYSTEMS, about: "A machine." });
}

test("ratios stand before absolute figures", () => {
  const section = page(
    ratio("bulk produce", "BullMQ", 12),
    absolute("bulk produce", "Sluice", 1200),
    absolute("bulk produce", "BullMQ", 100),
  );
  assert.ok(section.includes("| BullMQ | **12 ×** (1 – 2) | 100 jobs/s (1 – 2) | BullMQ syncs |"));
});

test("reports a row in which Sluice is behind", () => {
  const section = page(ratio("drain", "BullMQ", 0.5, { isBehind: true }));
  assert.ok(
    section.includes("Of 1 comparisons Sluice is ahead in every run of 0, behind in every\n"),
  );
  assert.ok(section.includes("run of 1, and in 0 the runs do not agree or are level."));
  assert.ok(section.includes("medians:\n\n- drain: Sluice against BullMQ: 0.5 ×\n"));
});

test("reports a figure that is ahead but short of the target", () => {
  const section = page(ratio("drain", "BullMQ", 4));
  assert.ok(section.includes("- drain: Sluice against BullMQ: 4 × (meant: ≥ 10)"));
});

test("a peer that could not be measured is in the table, with the reason", () => {
  const section = page(absolute("drain", "BullMQ", Number.NaN, { notMeasured: "no package" }));
  assert.ok(section.includes("| BullMQ |  | not measured: no package | BullMQ syncs |"));
});

test("reports a figure that is behind by the medians, but not in every run", () => {
  const more = { isBehind: true, standing: "within" };
  const section = page(ratio("drain", "BullMQ", 0.9, more));
  assert.ok(section.includes("run of 0, and in 1 the runs do not agree"));
  assert.ok(section.includes("against BullMQ: 0.9 ×, within the spread (1 – 2)"));
});

test("reports Sluice's own figures that fall short", () => {
  const short = { ...absolute("drain", "Sluice", 5), target: { atLeast: 100 } };
  const section = page(short, absolute("produce", "Sluice", 5));
  assert.ok(section.includes("Short of what Sluice means to be:\n\n- drain: Sluice: 5 jobs/s"));
  assert.ok(!section.includes("- produce: Sluice"));
});

test("a difference has a sign and no times", () => {
  const figure = ratio("over", "BullMQ", 7, { compare: "difference" });
  const section = page({ ...figure, unit: "jobs" }, absolute("over", "BullMQ", 7));
  assert.ok(section.includes("| BullMQ | **+7 jobs** (1 – 2) |"));
});

test("the work is described below the headline of its row", () => {
  const section = page(absolute("drain", "Sluice", 1, { work: "20 handlers of 5 ms" }));
  assert.ok(section.includes("### Drain\n\n20 handlers of 5 ms.\n"));
});

test("lists what peers do beyond Sluice, and each version once", () => {
  const more = { version: "bullmq 6" };
  const section = page(
    absolute("drain", "BullMQ", 1, more),
    absolute("produce", "BullMQ", 2, more),
  );
  assert.ok(section.includes("BullMQ flows"));
  assert.ok(!section.includes("Sluice flows"));
  assert.equal(section.split("bullmq 6").length, 2);
});

test("the first screen comes first, and losing rows are the first of the appendix", () => {
  const section = page(
    ratio("bulk produce", "BullMQ", 12),
    absolute("bulk produce", "Sluice", 1200),
    ratio("drain", "BullMQ", 0.5, { isBehind: true }),
    absolute("drain", "Sluice", 5),
  );
  const order = ["![", "| jobs through", "### Conditions", "A machine.", "## Appendix"];
  const places = [...order, "### Drain", "### Bulk produce"].map((text) => section.indexOf(text));
  assert.ok(places.every((place) => place >= 0));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});

test("a section is replaced and the others stay", () => {
  const first = withSection(undefined, "one");
  const more = `${first}\n## Another\n`;
  const second = withSection(more, "two");
  assert.ok(second.includes("two") && !second.includes("one\n"));
  assert.ok(second.startsWith("# Benchmarks"));
  assert.ok(second.endsWith("\n## Another\n"));
  assert.equal(withSection(second, "two"), second);
});
