import assert from "node:assert/strict";
import { test } from "node:test";
import { Plan } from "./plan.ts";

const HOUR_MS = 3_600_000;
const DAY = Date.UTC(2026, 2, 1);

test("an interval ticks at its multiples, counted from `from` where there is one", () => {
  const plan = new Plan("q/s", { everyMs: 15 * 60_000 });
  assert.deepEqual(plan.upcoming(DAY + 1, 2), [DAY + 15 * 60_000, DAY + 30 * 60_000]);
  const shifted = new Plan("q/s", { everyMs: HOUR_MS, from: DAY + 7 });
  assert.deepEqual(shifted.upcoming(0, 2), [DAY + 7, DAY + HOUR_MS + 7]);
});

test("each listed time is a tick, in order and once", () => {
  const plan = new Plan("q/s", { at: [DAY + 5, DAY, DAY + 5] });
  assert.deepEqual(plan.upcoming(0, 9), [DAY, DAY + 5]);
  assert.equal(plan.next(DAY + 5), undefined);
});

test("no tick is before `from` or after `until`", () => {
  const bounds = { from: DAY, until: DAY + 2 * HOUR_MS };
  const plan = new Plan("q/s", { cron: "0 * * * *", ...bounds });
  assert.deepEqual(plan.upcoming(0, 9), [DAY, DAY + HOUR_MS, DAY + 2 * HOUR_MS]);
});

test("of many ticks the newest are listed, and where the older ones end", () => {
  const plans = [
    new Plan("q/s", { cron: "* * * * *" }),
    new Plan("q/s", { cron: "* * * * *", timezone: "Europe/Berlin" }),
    new Plan("q/s", { everyMs: 60_000 }),
    new Plan("q/s", { at: Array.from({ length: 200 }, (_, i) => DAY - i * 60_000) }),
  ];
  for (const plan of plans) {
    const { ticks, olderUntil } = plan.passed(DAY - 100 * 60_000, DAY + 30_000, 3);
    assert.deepEqual(ticks, [DAY - 120_000, DAY - 60_000, DAY]);
    assert.equal(olderUntil, DAY - 180_000);
    assert.deepEqual(plan.passed(DAY - 120_000, DAY, 3), {
      ticks: [DAY - 60_000, DAY],
      olderUntil: undefined,
    });
  }
});

test("jitter is the same each time, differs between ticks and schedules, and ends before the next", () => {
  const plan = new Plan("q/s", { everyMs: 1000, jitterMs: 60_000 });
  const dues = new Set<number>();
  for (let tick = DAY; tick < DAY + 100_000; tick += 1000) {
    const due = plan.dueAt(tick);
    assert.ok(due >= tick && due < tick + 1000);
    assert.equal(new Plan("q/s", { everyMs: 1000, jitterMs: 60_000 }).dueAt(tick), due);
    dues.add(due - tick);
  }
  assert.ok(dues.size > 50);
  assert.equal(new Plan("q/s", { everyMs: 1000 }).dueAt(DAY), DAY);
  const other = new Plan("q/t", { everyMs: 1000, jitterMs: 60_000 });
  assert.notEqual(other.dueAt(DAY), plan.dueAt(DAY));
});
