import assert from "node:assert/strict";
import { test } from "node:test";
import { type ElasticRule, FakeClock } from "@sluice/protocol";
import { type Scaled, Slots } from "./slots.ts";

const RULE: ElasticRule = { min: 2, max: 4, scaleUpAt: 0.6, scaleDownAt: 0.4, load: undefined };

function slotsOf(rule: Partial<ElasticRule> = {}): {
  clock: FakeClock;
  slots: Slots;
  scaled: Scaled[];
  errors: unknown[];
} {
  const clock = new FakeClock({ now: 0 });
  const scaled: Scaled[] = [];
  const errors: unknown[] = [];
  const slots = new Slots({
    clock,
    rule: { ...RULE, ...rule },
    onScaled: (one) => scaled.push(one),
    onError: (error) => errors.push(error),
  });
  // The load may be asked for, so time waits for promises.
  clock.attach({ drain: () => new Promise((resolve) => setImmediate(resolve)) });
  return { clock, slots, scaled, errors };
}

test("a fixed number of slots never changes and sets no timer", async () => {
  const { clock, slots, scaled } = slotsOf({ min: 3, max: 3 });
  for (let i = 0; i < 3; i++) slots.take();
  await clock.advance("1m");
  assert.deepEqual([slots.count, slots.busy, scaled], [3, 3, []]);
});

test("busy slots add one a second, up to the most", async () => {
  const { clock, slots, scaled } = slotsOf();
  for (let i = 0; i < 4; i++) slots.take();
  await clock.advance(999);
  assert.equal(slots.count, 2);
  await clock.advance(1);
  assert.equal(slots.count, 3);
  await clock.advance("10s");
  assert.equal(slots.count, 4);
  assert.deepEqual(scaled, [
    { from: 2, to: 3, load: 2 },
    { from: 3, to: 4, load: 4 / 3 },
  ]);
});

test("the load is the average over the second and not the moment", async () => {
  const { clock, slots } = slotsOf();
  // Both busy for 599 ms and none after: 0.599, just too little.
  slots.take();
  slots.take();
  await clock.advance(599);
  slots.release();
  slots.release();
  await clock.advance(401);
  assert.equal(slots.count, 2);
  slots.take();
  slots.take();
  await clock.advance(600);
  slots.release();
  slots.release();
  await clock.advance(400);
  assert.equal(slots.count, 3, "0.6 is enough");
});

test("idle slots go one a second, down to the least", async () => {
  const { clock, slots } = slotsOf();
  for (let i = 0; i < 4; i++) slots.take();
  await clock.advance("3s");
  assert.equal(slots.count, 4);
  for (let i = 0; i < 4; i++) slots.release();
  await clock.advance("1s");
  assert.equal(slots.count, 3);
  await clock.advance("10s");
  assert.equal(slots.count, 2);
});

test("between the two marks nothing changes", async () => {
  const { clock, slots, scaled } = slotsOf();
  slots.take();
  await clock.advance("10s");
  assert.deepEqual([slots.count, scaled], [2, []]);
});

test("another measure of the load may be given, and may have to be waited for", async () => {
  let load = 0.9;
  const { clock, slots } = slotsOf({ load: async () => load });
  await clock.advance("1s");
  assert.equal(slots.count, 3);
  load = 0.1;
  await clock.advance("1s");
  assert.equal(slots.count, 2);
});

test("a load measurement that fails is reported and changes nothing", async () => {
  const { clock, slots, errors } = slotsOf({
    load: () => {
      throw new Error("no load");
    },
  });
  await clock.advance("2s");
  assert.equal(slots.count, 2);
  assert.equal(errors.length, 2);
});

test("after the end nothing changes any more", async () => {
  const { clock, slots, scaled } = slotsOf();
  slots.take();
  slots.take();
  slots.stop();
  await clock.advance("10s");
  assert.deepEqual([slots.count, scaled], [2, []]);
});
