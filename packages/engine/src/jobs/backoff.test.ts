import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, type TestEngine } from "../testing/test-engine.ts";
import type { RetryPolicy } from "./backoff.ts";
import { backoffMs } from "./backoff.ts";

const PLAIN: RetryPolicy = { attempts: 9, minMs: 1000, maxMs: 300_000, factor: 2, jitter: 0 };

test("the delay grows by the factor with every failure, up to its maximum", () => {
  const delays = [1, 2, 3, 9, 10, 500].map((failures) => backoffMs(PLAIN, 0, 1, failures));
  assert.deepEqual(delays, [1000, 2000, 4000, 256_000, 300_000, 300_000]);
});

test("a factor of 1 keeps the delay, a minimum of 0 has none", () => {
  assert.equal(backoffMs({ ...PLAIN, factor: 1 }, 0, 1, 7), 1000);
  assert.equal(backoffMs({ ...PLAIN, minMs: 0 }, 0, 1, 7), 0);
  assert.equal(backoffMs({ ...PLAIN, minMs: 0 }, 0, 1, 65_535), 0, "after any number of failures");
});

test("the jitter only shortens, by at most its fraction, to whole milliseconds", () => {
  const policy = { ...PLAIN, jitter: 0.2 };
  const delays = Array.from({ length: 1000 }, (_, id) => backoffMs(policy, 7, id + 1, 1));
  assert.ok(delays.every((ms) => Number.isInteger(ms) && ms >= 800 && ms <= 1000));
  assert.ok(Math.min(...delays) < 810, "the jitter reaches its fraction");
  assert.ok(Math.max(...delays) > 990, "and nothing");
});

test("the same seed, job and attempt give the same delay; another of them another delay", () => {
  const policy = { ...PLAIN, maxMs: 10 ** 9, minMs: 10 ** 9, jitter: 1 };
  const big = 2 ** 40 + 1;
  assert.equal(backoffMs(policy, 1, big, 3), backoffMs(policy, 1, big, 3));
  const delays = [
    backoffMs(policy, 1, big, 3),
    backoffMs(policy, 2, big, 3),
    backoffMs(policy, 1, big + 1, 3),
    backoffMs(policy, 1, 1, 3),
    backoffMs(policy, 1, big, 4),
  ];
  assert.equal(new Set(delays).size, delays.length);
});

/** When a job that fails every time falls due, counted from its failure. */
function delaysOf(seed: number, spec: Parameters<TestEngine["add"]>[1]): number[] {
  const engine = openEngine({}, { seed });
  const { id } = engine.add("q", spec, 0);
  const delays: number[] = [];
  for (let now = 0; ; ) {
    const [lease] = engine.lease("q", 1, now);
    engine.nack(id, lease!.lease, now);
    const { queue, at } = engine.queries.job(id)!;
    if (queue !== "q") return delays;
    delays.push(at! - now);
    now = at!;
  }
}

test("the delays of a job follow the queue's policy, and engines of one seed agree on them", () => {
  const delays = delaysOf(5, {});
  assert.equal(delays.length, 4);
  for (const [i, delay] of delays.entries()) {
    const full = 1000 * 2 ** i;
    assert.ok(delay <= full && delay >= 0.8 * full, `${delay} for ${full}`);
  }
  assert.deepEqual(delaysOf(5, {}), delays);
  assert.notDeepEqual(delaysOf(6, {}), delays);
});

test("a job's own backoff changes only what it names", () => {
  const backoff = { minMs: 10, factor: 3, jitter: 0 };
  assert.deepEqual(delaysOf(0, { attempts: 4, backoff }), [10, 30, 90]);
});
