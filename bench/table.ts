// Figures for people: aligned, each beside its target.

import { type Figure, reachesTarget, type Target } from "./figure.ts";

const HEADINGS = ["metric", "value", "unit", "min – max", "target", ""];
// Numbers are read from their last digit.
const RIGHT = [false, true, false, true, true, false];

export function tableOf(figures: readonly Figure[]): string {
  const rows = [HEADINGS, ...figures.map(rowOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => line(row, widths)).join("\n");
}

function line(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, column) =>
    RIGHT[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
  );
  return cells.join("  ").trimEnd();
}

function rowOf({ metric, value, unit, conditions, target }: Figure): string[] {
  const { min, max } = conditions;
  const spread =
    typeof min === "number" && typeof max === "number" ? `${text(min)} – ${text(max)}` : "";
  return [metric, text(value), unit, spread, ...judgement(value, target)];
}

function judgement(value: number, target: Target | undefined): [string, string] {
  if (target === undefined) return ["", ""];
  const wanted = "atLeast" in target ? `≥ ${text(target.atLeast)}` : `≤ ${text(target.atMost)}`;
  return [wanted, reachesTarget(value, target) ? "PASS" : "FALLS SHORT"];
}

function text(value: number): string {
  if (Number.isNaN(value)) return "not measured";
  return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}
