import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { indexer, Rig } from "../testing/rig.ts";
import { PRIORITIES } from "./priority.ts";

const WINDOWS = [
  { limit: 3, per: 60_000 },
  { limit: 8, per: 600_000 },
] as const;
/** What all three share. */
const HOST = { id: "h", interval: 500, windows: [{ limit: 6, per: 60_000 }], concurrency: 2 };
const INTERVAL_MS = 10_000;
const FLOOR_MS = 2_000;
const PROMOTED_MS = 600_000;
const SPACING_MS = [2_000, 5_000, 7_000, 10_000];

const step = fc.record({
  indexer: fc.nat(2),
  tier: fc.nat(3),
  tookMs: fc.nat(4_000),
  afterMs: fc.nat(8_000),
});

test("no window, spacing or concurrency is exceeded, whatever comes when", async (t) => {
  const steps = fc.array(step, { minLength: 10, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const rig = await Rig.open(t);
      const runs = new Map<string, { tier: number; start: number; end: number }[]>();
      for (const { indexer: i, tier, tookMs, afterMs } of all) {
        const limits = { interval: INTERVAL_MS, floor: FLOOR_MS, windows: WINDOWS, host: HOST };
        const submittedAt = rig.atMs;
        rig.submit({
          indexers: [indexer(`i${i}`, limits)],
          priority: PRIORITIES[tier]!,
          params: rig.calls.length + rig.clock.now(),
          exec: async ({ id }) => {
            // What was promoted is spaced as the tier that it was promoted to.
            const isPromoted = rig.atMs - submittedAt >= PROMOTED_MS;
            const run = { tier: isPromoted ? 0 : tier, start: rig.atMs, end: Infinity };
            runs.set(id, [...(runs.get(id) ?? []), run]);
            await rig.pass(tookMs);
            run.end = rig.atMs;
            return { results: [] };
          },
        });
        await rig.clock.advance(afterMs);
      }
      await rig.clock.advance("9m");
      for (const list of runs.values()) {
        for (const [i, { tier, start }] of list.entries()) {
          for (const { limit, per } of WINDOWS) {
            assert.ok(start - (list[i - limit]?.start ?? -Infinity) >= per, "window");
          }
          assert.ok(start - (list[i - 1]?.end ?? -Infinity) >= SPACING_MS[tier]!, "spacing");
        }
      }
      checkHost([...runs.values()].flat().sort((a, b) => a.start - b.start));
      await rig.close();
    }),
    { numRuns: 40 },
  );
});

function checkHost(all: readonly { start: number; end: number }[]): void {
  for (const [i, { start }] of all.entries()) {
    const before = all.slice(0, i);
    const atOnce = before.filter(({ end }) => end > start).length;
    assert.ok(atOnce < HOST.concurrency, "requests at once on the host");
    assert.ok(start - (before.at(-1)?.start ?? -Infinity) >= HOST.interval, "host spacing");
    for (const { limit, per } of HOST.windows) {
      assert.ok(start - (all[i - limit]?.start ?? -Infinity) >= per, "host window");
    }
  }
}
