import assert from "node:assert/strict";
import { test } from "node:test";
import type { Figure } from "./figure.ts";
import { tableOf } from "./table.ts";

const figure = (value: number, target?: Figure["target"]): Figure => ({
  metric: "speed",
  value,
  unit: "jobs/s",
  conditions: { min: 1, max: 2 },
  ...(target === undefined ? {} : { target }),
});

const verdictOf = (value: number, target?: Figure["target"]): string =>
  /(PASS|FALLS SHORT)?$/.exec(tableOf([figure(value, target)]))![0];

test("a figure at its target passes and one beyond it falls short", () => {
  assert.equal(verdictOf(10, { atLeast: 10 }), "PASS");
  assert.equal(verdictOf(9, { atLeast: 10 }), "FALLS SHORT");
  assert.equal(verdictOf(10, { atMost: 10 }), "PASS");
  assert.equal(verdictOf(11, { atMost: 10 }), "FALLS SHORT");
  assert.equal(verdictOf(11), "");
});

test("columns are aligned", () => {
  const lines = tableOf([figure(5), figure(1_234_567)]).split("\n");
  assert.equal(new Set(lines.map((line) => line.search(/unit|jobs\/s/))).size, 1);
  assert.match(lines[2]!, /1,235,000 {2}jobs\/s +1 – 2$/);
});
