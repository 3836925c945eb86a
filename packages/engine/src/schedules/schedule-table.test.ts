import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScheduleRecord } from "./schedule.ts";
import { ScheduleTable } from "./schedule-table.ts";

test("tables for jobs and lanes are reserved once, before many schedules are due", () => {
  let reserved = 0;
  const table = new ScheduleTable({
    now: 0,
    clock: () => 0,
    isReplaying: false,
    wall: { aheadMs: 0, timedUntil: 0 },
    tell: () => {},
    reserve: () => reserved++,
  });
  const record = { config: {}, decidedUntil: 0, made: 0, pausedBy: "" } as unknown;
  const put = (n: number): unknown => table.put(`q/${n}`, record as ScheduleRecord);
  for (let n = 0; n < 8191; n++) put(n);
  assert.equal(reserved, 0);
  for (let n = 0; n < 10_000; n++) put(n);
  assert.equal(reserved, 1);
});
