import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type WindowLimit, Windows } from "./windows.ts";

const limit = fc.record({
  limit: fc.integer({ min: 1, max: 30 }),
  perMs: fc.integer({ min: 1, max: 200 }),
});
const limits = fc.array(limit, { minLength: 1, maxLength: 4, size: "max" });
/** How long after the earliest time each take comes, and what it costs. */
const takes = fc.array(
  fc.record({
    late: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 0, max: 300 })),
    cost: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 1, maxLength: 120, size: "max" },
);

interface Take {
  at: number;
  cost: number;
}

/** What counts in a window at `now`, added up from scratch. */
function used(list: readonly Take[], perMs: number, now: number): number {
  return list.reduce((sum, { at, cost }) => (at + perMs > now ? sum + cost : sum), 0);
}

function passes(list: readonly Take[], cost: number, limits: readonly WindowLimit[], now: number) {
  return limits.every((w) => used(list, w.perMs, now) <= Math.max(0, w.limit - cost));
}

test("no sliding interval holds more than the limit, takes come as early as they may", () => {
  fc.assert(
    fc.property(
      limits,
      takes,
      fc.constantFrom<number>(0, 1_763_000_000_000),
      (config, list, begin) => {
        const windows = new Windows(config);
        const done: Take[] = [];
        let now = begin;
        for (const { late, cost } of list) {
          now += late;
          const at = windows.opensAt(cost, now);
          assert.ok(
            at >= now && passes(done, cost, config, at),
            "it passes at the time it answered",
          );
          assert.ok(at === now || !passes(done, cost, config, at - 1), "and not 1 ms before");
          now = at;
          windows.take(cost, now);
          done.push({ at: now, cost });
          for (const { perMs, limit, used: counted } of windows.use(now)) {
            assert.equal(counted, used(done, perMs, now));
            const within = done.filter((take) => take.at > now - perMs);
            assert.ok(counted <= limit || within.length === 1, `${counted} of ${limit}`);
          }
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test("a fractional clock never takes early", () => {
  const polls = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 3 })),
    { maxLength: 120, size: "max" },
  );
  fc.assert(
    fc.property(limits, polls, (config, list) => {
      const windows = new Windows(config);
      const done: Take[] = [];
      let now = 0;
      for (const [step, cost] of list) {
        now += step / 1024;
        if (windows.opensAt(cost, now) > now) continue;
        assert.ok(passes(done, cost, config, now));
        windows.take(cost, now);
        done.push({ at: now, cost });
      }
    }),
  );
});

test("a change of windows keeps the takes that the old ones remember", () => {
  fc.assert(
    fc.property(limits, limits, takes, takes, (before, after, first, second) => {
      const windows = new Windows(before);
      const done: Take[] = [];
      let now = 0;
      const run = (list: typeof first) => {
        for (const { late, cost } of list) {
          now = windows.opensAt(cost, now + late);
          windows.take(cost, now);
          done.push({ at: now, cost });
        }
      };
      run(first);
      windows.configure(after, now);
      const memory = Math.max(...before.map((w) => w.perMs));
      const kept = done.filter((take) => take.at + memory > now);
      for (const use of windows.use(now)) assert.equal(use.used, used(kept, use.perMs, now));
      done.splice(0, done.length, ...kept);
      run(second);
      for (const use of windows.use(now)) assert.equal(use.used, used(done, use.perMs, now));
    }),
  );
});

test("what a claim finds beside a take is what it finds after it", () => {
  fc.assert(
    fc.property(limits, takes, takes, fc.nat(400), (config, list, [last], wait) => {
      const windows = new Windows(config);
      const done: Take[] = [];
      let now = 0;
      for (const { late, cost } of list) {
        now = windows.opensAt(cost, now + late);
        windows.take(cost, now);
        done.push({ at: now, cost });
      }
      const { cost } = last!;
      const beside = windows.opensBeside(cost, 2, now + wait, now);
      windows.take(cost, now);
      done.push({ at: now, cost });
      assert.equal(beside, passes(done, 2, config, now + wait));
    }),
  );
});

test("a save holds just the takes that count, and a load continues with them", () => {
  fc.assert(
    fc.property(limits, takes, fc.nat(400), (config, list, wait) => {
      const windows = new Windows(config);
      let now = 0;
      for (const { late, cost } of list) {
        now = windows.opensAt(cost, now + late);
        windows.take(cost, now);
      }
      now += wait;
      const save = windows.save(now);
      const again = new Windows(config);
      again.take(5, now);
      again.load(JSON.parse(JSON.stringify(save)), now);
      assert.deepEqual(again.use(now), windows.use(now));
      assert.deepEqual(again.save(now), save);
      assert.ok(save.times.every((at) => config.some((w) => at + w.perMs > now)));
      for (let cost = 1; cost < 12; cost++) {
        assert.equal(again.opensAt(cost, now), windows.opensAt(cost, now));
      }
    }),
  );
});
