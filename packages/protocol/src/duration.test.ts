import assert from "node:assert/strict";
import { test } from "node:test";
import { type Duration, duration, durationText, LEASE, parseDuration, TIME } from "./duration.ts";
import { SluiceError } from "./errors.ts";
import { DURATION_MS_MAX } from "./limits.ts";

const parse = (value: unknown): number => parseDuration("delay", value);

test("a number is milliseconds, and every unit is known", () => {
  assert.equal(parse(0), 0);
  assert.equal(parse(1500), 1500);
  assert.equal(parse("250ms"), 250);
  assert.equal(parse("30s"), 30_000);
  assert.equal(parse("5m"), 300_000);
  assert.equal(parse("1h"), 3_600_000);
  assert.equal(parse("2d"), 172_800_000);
});

test("fractions become whole milliseconds", () => {
  assert.equal(parse("1.5s"), 1500);
  assert.equal(parse("0.25ms"), 0);
  assert.equal(parse(99.6), 100);
});

test("refuses an invalid duration and names the field and the value", () => {
  const wrong = ["", "30", "s", "-1s", "1 s", "1S", "1w", "1e3s", " 1s", "1s ", "0x1s"];
  for (const value of [...wrong, -1, Number.NaN, Infinity, null, undefined, {}, [], true, 1n]) {
    assert.throws(
      () => parse(value),
      (error) =>
        error instanceof SluiceError &&
        error.code === "INVALID" &&
        error.details.field === "delay" &&
        error.message.startsWith("delay must be milliseconds or a string"),
      String(value),
    );
  }
});

test("the longest duration passes and one millisecond more does not", () => {
  assert.equal(parse(DURATION_MS_MAX), DURATION_MS_MAX);
  assert.throws(() => parse(DURATION_MS_MAX + 1), { code: "INVALID" });
  assert.throws(() => parse("4000d"), /of at most/);
  assert.throws(() => parseDuration("lease", "2d", 86_400_000), /of at most 86400000 ms/);
});

test("a time is a date or a number", () => {
  assert.equal(TIME.parse("runAt", new Date(5)), 5);
  assert.equal(TIME.parse("runAt", 7), 7);
  for (const value of [new Date(Number.NaN), -1, Number.NaN, "2030-01-01", undefined]) {
    assert.throws(() => TIME.parse("runAt", value), { code: "INVALID" });
  }
});

test("the type of a duration knows the units", () => {
  const good: Duration[] = [5, "5s", "1.5h"];
  // @ts-expect-error A week is no unit.
  const bad: Duration = "1w";
  assert.equal(good.length, 3);
  assert.equal(bad, "1w");
});

test("a kind of duration describes its range", () => {
  assert.equal(duration().words, "a duration");
  assert.equal(duration(1).words, "a duration of at least 1ms");
  assert.equal(LEASE.words, "a duration of at least 1ms and at most 1d");
  assert.deepEqual([90_000, 1500, 0, 7_200_000].map(durationText), ["90s", "1500ms", "0ms", "2h"]);
});
