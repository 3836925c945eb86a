import assert from "node:assert/strict";
import { test } from "node:test";
import { clockConformance } from "./conformance/clock.ts";
import { FakeClock } from "./fake-clock.ts";

const clockAt = (now: number): FakeClock => new FakeClock({ now });

clockConformance(
  "FakeClock",
  () => {
    const clock = new FakeClock();
    return { clock, pass: (ms) => clock.advance(ms) };
  },
  test,
);

test("time moves only when a test moves it", async () => {
  const clock = clockAt(1_000);
  assert.equal(clock.now(), 1_000);
  await clock.advance("5s");
  assert.equal(clock.now(), 6_000);
  await clock.advanceTo(new Date(7_000));
  assert.equal(clock.now(), 7_000);
});

test("timers fire in the order of their times, each at its own time", async () => {
  const clock = clockAt(0);
  const fired: string[] = [];
  const note = (name: string) => () => fired.push(`${name} at ${clock.now()}`);
  clock.at(20, note("b"));
  clock.at(10, note("a"));
  clock.at(20, note("c"));
  clock.at(31, note("late"));
  await clock.advance(30);
  assert.deepEqual(fired, ["a at 10", "b at 20", "c at 20"]);
});

test("a timer that is set by a timer fires on the way", async () => {
  const clock = clockAt(0);
  const fired: number[] = [];
  clock.at(10, () => clock.at(15, () => fired.push(clock.now())));
  await clock.advance(20);
  assert.deepEqual(fired, [15]);
});

test("a cancelled timer does not fire", async () => {
  const clock = clockAt(0);
  const fired: number[] = [];
  clock.at(10, () => fired.push(10)).cancel();
  await clock.advance(20);
  assert.deepEqual(fired, []);
});

test("a drain fires overdue timers, and time does not pass", async () => {
  const clock = clockAt(100);
  const fired: number[] = [];
  clock.at(50, () => fired.push(clock.now()));
  clock.at(101, () => fired.push(clock.now()));
  await clock.drain();
  assert.deepEqual(fired, [100]);
});

test("time waits for those who are attached, after each timer", async () => {
  const clock = clockAt(0);
  const seen: string[] = [];
  const detach = clock.attach({
    drain: async () => {
      await null;
      seen.push(`drained at ${clock.now()}`);
    },
  });
  clock.at(10, () => seen.push("fired"));
  await clock.advance(20);
  assert.deepEqual(seen, ["drained at 0", "fired", "drained at 10", "drained at 20"]);
  detach();
  await clock.advance(1);
  assert.equal(seen.length, 4);
});

test("time never goes back", async () => {
  const clock = clockAt(10);
  await assert.rejects(clock.advanceTo(9), { code: "INVALID" });
  await assert.rejects(clock.advance(-1 as number), { code: "INVALID" });
  assert.throws(() => new FakeClock({ now: Number.NaN }), { code: "INVALID" });
});
