import assert from "node:assert/strict";
import { test } from "node:test";
import { CronTimes } from "./cron-times.ts";

/** Local ticks of a zone from a time on, in UTC. */
function ticks(cron: string, timezone: string, from: string, count: number): string[] {
  const times = new CronTimes(cron, timezone);
  const found: string[] = [];
  let at = Date.parse(from) - 1;
  for (let i = 0; i < count; i++) {
    at = times.next(at)!;
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

test("a time that is skipped ticks when the clock goes forward, and the next day as usual", () => {
  // In Berlin 02:00 becomes 03:00 on 29 March 2026, which is 01:00 UTC.
  assert.deepEqual(ticks("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00Z", 3), [
    "2026-03-28T01:30Z",
    "2026-03-29T01:00Z",
    "2026-03-30T00:30Z",
  ]);
});

test("several times that are skipped are one tick, together with one at that moment", () => {
  assert.deepEqual(ticks("0,20,40 2-3 * * *", "Europe/Berlin", "2026-03-29T00:00Z", 4), [
    "2026-03-29T01:00Z",
    "2026-03-29T01:20Z",
    "2026-03-29T01:40Z",
    "2026-03-30T00:00Z",
  ]);
});

test("a time that is repeated ticks the first time", () => {
  // In Berlin 03:00 becomes 02:00 on 25 October 2026, which is 01:00 UTC.
  assert.deepEqual(ticks("30 2 * * *", "Europe/Berlin", "2026-10-25T00:00Z", 2), [
    "2026-10-25T00:30Z",
    "2026-10-26T01:30Z",
  ]);
  // Asked in the middle of the second showing.
  assert.deepEqual(ticks("*/15 2 * * *", "Europe/Berlin", "2026-10-25T01:10Z", 1), [
    "2026-10-26T01:00Z",
  ]);
});

test("every hour follows the clock: skipped times do not tick, repeated ones tick twice", () => {
  for (const hour of ["*", "*/1", "0-23", "0-11,12-23"]) {
    assert.deepEqual(ticks(`30 ${hour} * * *`, "Europe/Berlin", "2026-03-29T00:00Z", 3), [
      "2026-03-29T00:30Z",
      "2026-03-29T01:30Z",
      "2026-03-29T02:30Z",
    ]);
    assert.deepEqual(ticks(`30 ${hour} * * *`, "Europe/Berlin", "2026-10-25T00:00Z", 3), [
      "2026-10-25T00:30Z",
      "2026-10-25T01:30Z",
      "2026-10-25T02:30Z",
    ]);
  }
  assert.deepEqual(ticks("@hourly", "Europe/Berlin", "2026-10-25T00:00Z", 2), [
    "2026-10-25T00:00Z",
    "2026-10-25T01:00Z",
  ]);
});

test("a midnight that is skipped ticks at one o'clock", () => {
  // Cairo, 24 April 2026: 00:00 becomes 01:00, which is 22:00 UTC the day before.
  assert.deepEqual(ticks("0 0 * * *", "Africa/Cairo", "2026-04-23T00:00Z", 2), [
    "2026-04-23T22:00Z",
    "2026-04-24T21:00Z",
  ]);
});

test("changes of half an hour and of two hours", () => {
  // Lord Howe, 5 April 2026: 02:00 becomes 01:30, which is 15:00 UTC the day before.
  assert.deepEqual(ticks("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00Z", 2), [
    "2026-04-04T14:45Z",
    "2026-04-05T15:15Z",
  ]);
  assert.deepEqual(ticks("45 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00Z", 3), [
    "2026-04-04T14:45Z",
    "2026-04-04T15:15Z",
    "2026-04-04T16:15Z",
  ]);
  // Troll, 29 March 2026: 01:00 becomes 03:00.
  assert.deepEqual(ticks("30 1,2 * * *", "Antarctica/Troll", "2026-03-29T00:00Z", 2), [
    "2026-03-29T01:00Z",
    "2026-03-29T23:30Z",
  ]);
});

test("an expression that is none, and a zone that is none, are refused by name", () => {
  const refused = (field: string) => (error: unknown) => {
    const { code, details } = error as { code: string; details: { field: string } };
    assert.deepEqual([code, details.field], ["INVALID", field]);
    return true;
  };
  for (const cron of ["hello", "61 * * * *", "? * * * *"]) {
    assert.throws(() => new CronTimes(cron), refused("schedule.cron"));
  }
  assert.throws(() => new CronTimes("* * * * *", "Mars/Base"), refused("schedule.timezone"));
});

test("a date that never comes has no tick", () => {
  assert.equal(new CronTimes("0 0 30 2 *").next(Date.UTC(2026, 0, 1)), undefined);
});

test("a day by number or by weekday ticks for either, also at the end of a short February", () => {
  assert.deepEqual(ticks("0 12 1,15 * 1", "UTC", "2025-02-24T00:00Z", 4), [
    "2025-02-24T12:00Z",
    "2025-03-01T12:00Z",
    "2025-03-03T12:00Z",
    "2025-03-10T12:00Z",
  ]);
  // All days that a calendar of 28 years has, by three kinds of expressions.
  for (const [cron, isDay] of [
    [
      "0 0 1,28-31 * 1,6",
      (at: Date) =>
        [1, 28, 29, 30, 31].includes(at.getUTCDate()) || [1, 6].includes(at.getUTCDay()),
    ],
    ["0 0 29 2 *", (at: Date) => at.getUTCDate() === 29 && at.getUTCMonth() === 1],
    ["0 0 * * 0", (at: Date) => at.getUTCDay() === 0],
  ] as const) {
    const times = new CronTimes(cron);
    let next = times.next(Date.UTC(2000, 0, 1) - 1)!;
    for (let day = Date.UTC(2000, 0, 1); day < Date.UTC(2028, 0, 1); day += 86_400_000) {
      assert.equal(next === day, isDay(new Date(day)), `${cron} ${new Date(day).toISOString()}`);
      if (next === day) next = times.next(day)!;
    }
  }
});
