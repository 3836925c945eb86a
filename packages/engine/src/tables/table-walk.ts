import type { Chore, Core } from "../core.ts";
import type { Table } from "./table.ts";

/** Rows looked at by one step of a walk. */
export const ROWS_PER_STEP = 250;

/** Calls `visit` for every row of a table, a step at a time. */
export function walk(
  core: Core,
  table: Table,
  visit: (row: number, now: number) => void,
  rowsPerStep = ROWS_PER_STEP,
): Chore {
  let row = 1;
  return (now) => {
    const end = Math.min(row + rowsPerStep, table.end);
    core.rings.steps += end - row;
    for (; row < end; row++) visit(row, now);
    return row >= table.end;
  };
}
