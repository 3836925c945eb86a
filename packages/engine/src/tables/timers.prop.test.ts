import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Table } from "./table.ts";
import { Timers } from "./timers.ts";

const ROWS = 24;

interface Timer {
  row: number;
  time: number;
  tie: number;
}

const step = fc.record({
  action: fc.constantFrom("add", "add", "add", "remove", "move", "pop"),
  row: fc.integer({ min: 1, max: ROWS }),
  // Few different times and ties, so that both are often equal; some far away.
  time: fc.oneof(fc.nat(6), fc.constantFrom(1e9, -1e9, 2 ** 53)),
  tie: fc.nat(3),
});

function first(model: readonly Timer[]): Timer | undefined {
  return model.toSorted((a, b) => a.time - b.time || a.tie - b.tie)[0];
}

/** Rows equal in time and tie may come in any order: what comes must be as good as the first. */
function check(timers: Timers, model: readonly Timer[]): void {
  const due = first(model);
  assert.equal(timers.size, model.length);
  assert.equal(timers.peekTime(), due?.time ?? Infinity);
  const next = model.find((timer) => timer.row === timers.peek());
  assert.equal(next?.time, due?.time);
  assert.equal(next?.tie, due?.tie);
}

test("the timers agree with a sorted list after every step", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, rising) => {
      const table = new Table(2);
      for (let row = 1; row <= ROWS; row++) table.alloc();
      const timers = new Timers(table, 0);
      let model: Timer[] = [];
      for (const [index, { action, row, tie, ...rest }] of steps.entries()) {
        const time = rising ? index + rest.time : rest.time;
        const known = model.find((timer) => timer.row === row);
        assert.equal(timers.has(row), known !== undefined);
        if (action === "add" && !known) {
          timers.add(row, time, tie);
          model.push({ row, time, tie });
        } else if (action === "remove" && known) {
          timers.remove(row);
          model = model.filter((timer) => timer !== known);
        } else if (action === "move" && known) {
          timers.move(row, time);
          known.time = time;
        } else if (action === "pop") {
          const popped = timers.pop();
          model = model.filter((timer) => timer.row !== popped);
        }
        check(timers, model);
      }
    }),
    { numRuns: 500 },
  );
});
