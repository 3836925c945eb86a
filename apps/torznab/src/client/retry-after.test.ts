import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRetryAfter } from "./retry-after.ts";

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const DAY_MS = 24 * 3_600_000;

test("Retry-After: seconds, the three forms of a date, and the day that is the most", () => {
  for (const [value, ms] of [
    ["0", 0],
    ["1", 1_000],
    [" 120 ", 120_000],
    ["1.5", 1_500],
    ["86400", DAY_MS],
    ["86401", DAY_MS],
    ["315360000", DAY_MS],
    ["1767225600000", DAY_MS],
    ["9".repeat(400), DAY_MS],
    ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
    ["Sunday, 01-Mar-26 12:00:30 GMT", 30_000],
    ["Sun Mar  1 12:00:30 2026", 30_000],
    ["2026-03-01T12:00:30Z", 30_000],
    ["Mon, 02 Mar 2026 12:00:01 GMT", DAY_MS],
    ["Sun, 01 Mar 2036 12:00:00 GMT", DAY_MS],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Sun, 01 Mar 2026 11:59:59 GMT", 0],
  ] as const) {
    assert.equal(parseRetryAfter(value, NOW), ms, value);
  }
});

test("a value that is neither seconds nor a date is ignored", () => {
  const nothing = [undefined, "", "soon", "-5", "1e9", "Infinity", "0x10", "soon 2099", "in 5 min"];
  for (const value of [...nothing, "May 2099", "99 bottles", "2 2099", "2026-03-01"]) {
    assert.equal(parseRetryAfter(value, NOW), undefined, String(value));
  }
});
