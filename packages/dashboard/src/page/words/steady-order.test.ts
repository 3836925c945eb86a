import assert from "node:assert/strict";
import { test } from "node:test";
import { type Steady, steadyOrder } from "./steady-order.ts";

interface Row {
  name: string;
  isBad: boolean;
  waiting: number;
}

const row = (name: string, waiting = 0, isBad = false): Row => ({ name, waiting, isBad });
const next = (last: Steady<Row> | undefined, ...rows: Row[]): Steady<Row> =>
  steadyOrder(
    last,
    rows,
    ({ name }) => name,
    ({ isBad }) => isBad,
  );
const shown = ({ rows }: Steady<Row>): string => rows.map(({ name }) => name).join("");

test("rows keep their places while their figures change", () => {
  const first = next(undefined, row("a", 5), row("b", 3));
  const second = next(first, row("b", 9), row("a", 5));
  assert.equal(shown(second), "ab");
  assert.equal(second.rows[1]!.waiting, 9, "with the new figures");
});

test("a row that needs attention, one that is new and one that is gone make a new order", () => {
  const first = next(undefined, row("a"), row("b"));
  const bad = next(first, row("b", 0, true), row("a"));
  assert.equal(shown(bad), "ba");
  const more = next(bad, row("c"), row("b", 0, true), row("a"));
  assert.equal(shown(more), "cba");
  assert.equal(shown(next(more, row("a"), row("c"))), "ac");
});
