import assert from "node:assert/strict";
import { test } from "node:test";
import { each } from "../testing/test-engine.ts";
import { Windows } from "./windows.ts";

test("a take counts for exactly perMs, the end excluded", () => {
  const windows = new Windows([{ limit: 2, perMs: 100 }]);
  windows.take(1, 0);
  windows.take(1, 10);
  assert.equal(windows.opensAt(1, 10), 100);
  assert.equal(windows.opensAt(1, 99), 100);
  assert.equal(windows.opensAt(1, 100), 100);
  assert.equal(windows.opensAt(2, 100), 110);
});

test("the window that opens last decides", () => {
  const windows = new Windows([
    { limit: 1, perMs: 50 },
    { limit: 2, perMs: 1000 },
  ]);
  windows.take(1, 0);
  assert.equal(windows.opensAt(1, 0), 50);
  windows.take(1, 50);
  assert.equal(windows.opensAt(1, 50), 1000);
});

test("a cost above the limit passes when the window is empty", () => {
  const windows = new Windows([{ limit: 3, perMs: 100 }]);
  assert.equal(windows.opensAt(5, 0), 0);
  windows.take(1, 0);
  windows.take(1, 40);
  assert.equal(windows.opensAt(5, 40), 140);
  windows.take(5, 140);
  assert.equal(windows.opensAt(1, 140), 240);
});

test("takes of one millisecond are one entry", () => {
  const windows = new Windows([{ limit: 1000, perMs: 100 }]);
  for (let i = 0; i < 100; i++) windows.take(2, 5 + i / 1000);
  assert.deepEqual(windows.save(6), { times: [5, 6], costs: [2, 198] });
});

test("a forced take beyond the limit is counted, and one out of order does not go back", () => {
  const windows = new Windows([{ limit: 2, perMs: 100 }]);
  for (let i = 0; i < 5; i++) windows.take(1, 10 + i);
  windows.take(1, 3);
  assert.deepEqual(windows.use(20), [{ limit: 2, perMs: 100, used: 6 }]);
  assert.deepEqual(windows.save(20).times, [10, 11, 12, 13, 14]);
  assert.equal(windows.opensAt(1, 20), 114);
});

test("a long log opens at the right time, and passes what expired in one step", () => {
  const windows = new Windows([
    { limit: 50_000, perMs: 1_000_000 },
    { limit: 60_000, perMs: 2_000_000 },
  ]);
  for (let now = 0; now < 50_000; now++) {
    assert.equal(windows.opensAt(1, now), now);
    windows.take(1, now);
  }
  assert.equal(windows.opensAt(1, 50_000), 1_000_000);
  assert.equal(windows.opensAt(20_000, 50_000), 2_009_999);
  assert.equal(windows.opensAt(10_000, 50_000), 1_009_999);
  assert.equal(windows.opensBeside(1, 9_999, 1_009_999, 50_000), true);
  assert.equal(windows.opensBeside(1, 10_000, 1_009_999, 50_000), false);
  assert.equal(windows.save(50_000).times.length, 50_000);
  assert.deepEqual(each(windows.use(1_040_000), "used"), [9999, 50_000]);
  assert.equal(windows.empty(2_049_998), false);
  assert.equal(windows.empty(2_049_999), true);
  assert.deepEqual(windows.save(2_049_999), { times: [], costs: [] });
});

test("steady takes use the same blocks again and stay exact", () => {
  const windows = new Windows([{ limit: 20, perMs: 100 }]);
  let now = 0;
  for (let i = 0; i < 5000; i++) {
    now = windows.opensAt(1, now);
    windows.take(1, now);
    now += i % 7;
  }
  assert.ok(windows.save(now).times.length <= 20);
  assert.ok(now >= 4980 * 5);
});

test("a steady trickle of takes keeps the log as small as its windows", () => {
  const windows = new Windows([{ limit: 3, perMs: 100 }]);
  for (let now = 0; now < 100_000; now += 40) windows.take(1, now);
  const { times } = windows.save(100_000);
  assert.deepEqual(times, [99_920, 99_960]);
  assert.ok(windows.takesHeld <= 2 * 8 + 3, String(windows.takesHeld));
  windows.opensAt(1, 200_000);
  assert.equal(windows.takesHeld, 0, "an empty log keeps nothing");
});

test("the order in which windows are named makes no difference", () => {
  const short = { limit: 1, perMs: 50 };
  const long = { limit: 2, perMs: 1000 };
  const opens = [
    [short, long],
    [long, short],
  ].map((limits) => {
    const windows = new Windows(limits);
    windows.take(1, 0);
    const first = windows.opensAt(1, 0);
    windows.take(1, 50);
    return [first, windows.opensAt(1, 50)];
  });
  assert.deepEqual(opens, [
    [50, 1000],
    [50, 1000],
  ]);
});
