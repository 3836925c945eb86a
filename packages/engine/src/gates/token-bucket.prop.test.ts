import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TokenBucket } from "./token-bucket.ts";

/** Rates as whole billionths, so that the bound can be checked in whole numbers. */
const nanoRate = fc.oneof(
  fc.integer({ min: 1000, max: 10 ** 9 }),
  fc.integer({ min: 1000, max: 5 * 10 ** 12 }),
  fc.integer({ min: 1, max: 5000 }).map((rate) => rate * 10 ** 9),
);
const milliBurst = fc.integer({ min: 1000, max: 30_000 });
const costs = fc.array(fc.integer({ min: 1, max: 40 }), {
  minLength: 2,
  maxLength: 40,
  size: "max",
});
/** A clock of today, or one that starts at zero. */
const start = fc.constantFrom<number>(0, 7, 1_763_000_000_000);

/** Everything in units of 1e-12 tokens: cost·1e12 ≤ burst·1e9 + rate·ms (1e-9/s is 1e-12/ms). */
function overtaken(
  takes: readonly { at: number; cost: number }[],
  burst: number,
  rate: number,
): boolean {
  for (let i = 0; i < takes.length; i++) {
    let sum = 0n;
    let largest = BigInt(burst) * 10n ** 9n;
    for (let j = i; j < takes.length; j++) {
      const cost = BigInt(takes[j]!.cost) * 10n ** 12n;
      sum += cost;
      if (cost > largest) largest = cost;
      // The clocks of these tests are whole multiples of 1/1024 ms, so this loses nothing.
      const elapsed = BigInt(Math.floor((takes[j]!.at - takes[i]!.at) * 1024));
      if ((sum - largest) * 1024n > BigInt(rate) * elapsed) return true;
    }
  }
  return false;
}

test("no interval holds more than burst + rate·t, however early the takes come", () => {
  fc.assert(
    fc.property(nanoRate, milliBurst, costs, start, (rate, burst, list, begin) => {
      const bucket = new TokenBucket(rate / 1e9, burst / 1000, begin);
      const takes: { at: number; cost: number }[] = [];
      let now = begin;
      for (const cost of list) {
        now = bucket.opensAt(cost, now);
        assert.equal(bucket.opensAt(cost, now), now, "it passes at the time it answered");
        bucket.take(cost, now);
        takes.push({ at: now, cost });
      }
      assert.equal(overtaken(takes, burst, rate), false);
    }),
    { numRuns: 2000 },
  );
});

test("a fractional clock takes nothing early", () => {
  const steps = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 4096 }), fc.integer({ min: 1, max: 3 })),
    {
      minLength: 2,
      maxLength: 60,
      size: "max",
    },
  );
  fc.assert(
    fc.property(nanoRate, fc.integer({ min: 1000, max: 4000 }), steps, (rate, burst, list) => {
      const bucket = new TokenBucket(rate / 1e9, burst / 1000, 0.5);
      const takes: { at: number; cost: number }[] = [];
      let now = 0.5;
      for (const [step, cost] of list) {
        now += step / 1024;
        if (bucket.opensAt(cost, now) > now) continue;
        bucket.take(cost, now);
        takes.push({ at: now, cost });
      }
      assert.equal(overtaken(takes, burst, rate), false);
    }),
    { numRuns: 2000 },
  );
});

test("the time it answers is the first whole millisecond that passes", () => {
  fc.assert(
    fc.property(nanoRate, milliBurst, costs, start, (rate, burst, list, begin) => {
      const bucket = new TokenBucket(rate / 1e9, burst / 1000, begin);
      let now = begin;
      for (const cost of list) {
        const at = bucket.opensAt(cost, now);
        if (at > now) {
          const early = new TokenBucket(rate / 1e9, burst / 1000, begin);
          early.load(bucket.save(now), now);
          assert.equal(early.opensAt(cost, at - 1), at);
          assert.equal(early.opensAt(cost, at), at);
        }
        now = at;
        bucket.take(cost, now);
      }
    }),
    { numRuns: 1000 },
  );
});

test("how often it is looked at changes nothing", () => {
  const looks = fc.array(fc.integer({ min: 0, max: 3_000_000 }), { maxLength: 50, size: "max" });
  fc.assert(
    fc.property(nanoRate, looks, start, (rate, list, begin) => {
      const looked = new TokenBucket(rate / 1e9, 1e9, begin);
      const alone = new TokenBucket(rate / 1e9, 1e9, begin);
      looked.take(1e9, begin);
      alone.take(1e9, begin);
      let now = begin;
      for (const step of list) {
        now += step;
        looked.tokens(now);
      }
      assert.deepEqual(looked.save(now), alone.save(now));
    }),
  );
});

test("at least 99 % of the rate is achieved by takes as early as allowed", () => {
  fc.assert(
    fc.property(nanoRate, start, fc.integer({ min: 1, max: 5 }), (rate, begin, cost) => {
      const perSecond = rate / 1e9;
      // One job and what comes in the millisecond for which it waits longer than it must.
      const burst = cost + perSecond * 0.001;
      const bucket = new TokenBucket(perSecond, burst, begin);
      let taken = 0;
      let now = begin;
      for (; taken < 2000 * cost; taken += cost) {
        now = bucket.opensAt(cost, now);
        bucket.take(cost, now);
      }
      const due = burst + (perSecond * (now - begin)) / 1000;
      assert.ok(taken >= due * 0.99, `${taken} of ${due}`);
    }),
    { numRuns: 300 },
  );
});

test("a change of limits keeps the level and the bound of the larger limits", () => {
  const change = fc.record({
    at: fc.integer({ min: 0, max: 30 }),
    rate: nanoRate,
    burst: milliBurst,
  });
  fc.assert(
    fc.property(
      nanoRate,
      milliBurst,
      fc.array(change, { maxLength: 4, size: "max" }),
      costs,
      (rate, burst, changes, list) => {
        const bucket = new TokenBucket(rate / 1e9, burst / 1000, 0);
        const takes: { at: number; cost: number }[] = [];
        let now = 0;
        const bursts = [burst, ...changes.map((c) => c.burst)];
        const fits = Math.floor(Math.min(...bursts) / 1000);
        list.forEach((wanted, index) => {
          const cost = Math.min(wanted, fits);
          for (const { at, rate, burst } of changes) {
            if (at !== index) continue;
            const before = bucket.tokens(now);
            bucket.configure(rate / 1e9, burst / 1000, now);
            assert.equal(bucket.tokens(now), Math.min(before, burst / 1000));
          }
          now = bucket.opensAt(cost, now);
          bucket.take(cost, now);
          takes.push({ at: now, cost });
        });
        const rates = [rate, ...changes.map((c) => c.rate)];
        assert.equal(overtaken(takes, Math.max(...bursts), Math.max(...rates)), false);
      },
    ),
    { numRuns: 1000 },
  );
});
