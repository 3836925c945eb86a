import assert from "node:assert/strict";
import { test } from "node:test";
import type { Figure } from "../figure.ts";
import { CHOICES, choiceTable, missingRows, pictureOf } from "./first-screen.ts";

function figure(row: string, system: string, value: number): Figure {
  return { metric: `${row}: ${system}`, value, unit: "", conditions: { row, system } };
}

const [FIRST] = CHOICES.map(({ row }) => row);
const LATENCY = CHOICES.find(({ better }) => better === "less")!.row;

test("the table has ten rows, and the best of each is bold", () => {
  const table = choiceTable([
    figure(FIRST!, "Sluice", 200),
    figure(FIRST!, "BullMQ", 100),
    figure(LATENCY, "Sluice", 0.7),
    figure(LATENCY, "BullMQ", 0.5),
    figure(LATENCY, "a write and a sync, nothing else", 0.2),
  ]);
  const lines = table.split("\n").filter((line) => line.startsWith("|"));
  assert.equal(lines.length, 2 + 10);
  assert.equal(lines[0], "| | Sluice | BullMQ |");
  assert.ok(lines[2]!.endsWith("| **200** | 100 |"));
  assert.ok(lines.some((line) => line.endsWith("| 0.7 | **0.5** |")));
});

test("what was not measured has a dash", () => {
  const table = choiceTable([
    figure(FIRST!, "Sluice", 200),
    figure(FIRST!, "BullMQ", 100),
    figure(LATENCY, "Sluice", 1),
    figure(LATENCY, "BullMQ", Number.NaN),
  ]);
  assert.ok(table.includes("| **1** | – |"));
});

test("the picture has a bar for each system, the longest first and Sluice in its colour", () => {
  const picture = pictureOf([figure(FIRST!, "BullMQ", 100), figure(FIRST!, "Sluice", 200)]);
  const bars = [...picture.matchAll(/<rect .*width="(\d+)" .*class="(\w)"/g)];
  assert.deepEqual(
    bars.map(([, , kind]) => kind),
    ["s", "o"],
  );
  const [one, other] = bars.map(([, width]) => Number(width));
  assert.equal(one, 2 * other!);
});

test("a row of the table that no workload measures is named", () => {
  const rows = CHOICES.map(({ row }) => row);
  assert.deepEqual(missingRows(rows.map((row) => figure(row, "Sluice", 1))), []);
  const others = rows.slice(1).map((row) => figure(row, "Sluice", 1));
  assert.deepEqual(missingRows([...others, figure(rows[0]!, "BullMQ", 1)]), [rows[0]]);
});
