import assert from "node:assert/strict";
import { test } from "node:test";
import { SystemClock } from "./clock.ts";
import { clockConformance } from "./conformance/clock.ts";

clockConformance(
  "SystemClock",
  () => {
    const clock = new SystemClock();
    const pass = (ms: number): Promise<void> =>
      new Promise((resolve) => void setTimeout(resolve, ms));
    return { clock, pass };
  },
  test,
);

test("time does not follow a step of the wall clock, the time on the wall does", (t) => {
  const clock = new SystemClock();
  const before = clock.now();
  t.mock.method(Date, "now", () => before + 3_600_000);
  assert.ok(clock.now() - before < 60_000);
  assert.equal(clock.wall(), before + 3_600_000);
});

test("a timer of the platform that fires early is set again, and never for too long", (t) => {
  const clock = new SystemClock();
  const set: { callback: () => void; ms: number }[] = [];
  t.mock.method(globalThis, "setTimeout", (callback: () => void, ms: number) => {
    set.push({ callback, ms });
    return 0;
  });
  clock.at(clock.now() + 2 ** 40, assert.fail);
  set[0]!.callback();
  assert.deepEqual(
    set.map(({ ms }) => ms),
    [2 ** 31 - 1, 2 ** 31 - 1],
  );
});
