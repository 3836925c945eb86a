import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { SystemClock } from "./clock.ts";

test("time does not follow a step of the wall clock, the time on the wall does", () => {
  const clock = new SystemClock();
  const before = clock.now();
  const date = mock.method(Date, "now", () => before + 3_600_000);
  assert.ok(clock.now() - before < 60_000);
  assert.equal(clock.wall(), before + 3_600_000);
  date.mock.restore();
});

test("a timer never fires early, and not at all once it is cancelled", async () => {
  const clock = new SystemClock();
  const time = clock.now() + 5;
  const fired = Promise.withResolvers<number>();
  clock.at(time, () => fired.resolve(clock.now()));
  const cancelled = clock.at(time, () => fired.reject(new Error("it was cancelled")));
  cancelled.cancel();
  assert.ok((await fired.promise) >= time);
});

test("a timer further away than Node can wait does not fire at once", async () => {
  const clock = new SystemClock();
  let hasFired = false;
  const timer = clock.at(clock.now() + 2 ** 40, () => {
    hasFired = true;
  });
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  timer.cancel();
  assert.equal(hasFired, false);
});
