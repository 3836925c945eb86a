import assert from "node:assert/strict";
import { test } from "node:test";
import * as limits from "../limits.ts";
import { type Bound, holdsBounds, refused } from "../testing/refused.ts";
import { answerGate, COOLDOWN_REASON, GATE_PATTERN, parseGate } from "./gate-options.ts";

const refusedGate = (options: unknown): string => refused(() => parseGate(options));

const ALL = {
  rate: 50,
  burst: 100,
  interval: { every: "1m", from: "start", factors: [0.1, 1], floor: "5s" },
  windows: [
    { limit: 10, per: "1m" },
    { limit: 100, per: "1d" },
  ],
  concurrency: 4,
  ladder: ["1m", 5_000],
};

test("every limit is kept with its durations in milliseconds", () => {
  assert.deepEqual(parseGate(ALL), {
    rate: 50,
    burst: 100,
    interval: { ms: 60_000, from: "start", factors: [0.1, 1], floorMs: 5_000 },
    windows: [
      { limit: 10, perMs: 60_000 },
      { limit: 100, perMs: 86_400_000 },
    ],
    concurrency: 4,
    ladder: [60_000, 5_000],
  });
});

test("an option that is not given gets its default, or stays absent", () => {
  assert.deepEqual(parseGate({}), {});
  assert.deepEqual(parseGate({ rate: 2.5 }), { rate: 2.5, burst: 2.5 });
  assert.deepEqual(parseGate({ rate: 0 }), { rate: 0, burst: 1 });
  assert.deepEqual(parseGate({ interval: { every: 5 } }), { interval: { ms: 5, from: "end" } });
  assert.deepEqual(parseGate({ interval: "10s" }), { interval: { ms: 10_000, from: "end" } });
  assert.deepEqual(parseGate({ windows: [], ladder: [], concurrency: undefined }), {});
});

test("the answer can be set again", () => {
  const config = parseGate(ALL);
  const answered = answerGate(config);
  assert.deepEqual(answered.interval, {
    every: 60_000,
    from: "start",
    factors: [0.1, 1],
    floor: 5_000,
  });
  assert.deepEqual(parseGate(answered), config);
  assert.deepEqual(parseGate(JSON.parse(JSON.stringify(answered))), config);
});

test("a message names the field and the value as they were given", () => {
  assert.throws(() => parseGate({ windows: [{ limit: 0, per: 1 }] }), {
    message: "gate.windows[0].limit must be an integer from 1 to 1000000, got 0",
  });
  assert.throws(() => parseGate({ windows: [{ limit: 1, per: "0s" }] }), /got "0s"$/);
  assert.throws(() => parseGate({ rates: 1 }), {
    message:
      "gate.rates is not a known field (did you mean rate?); known are " +
      "rate, burst, interval, windows, concurrency, ladder",
  });
});

test("each limit of a gate holds at it, below it and above it", () => {
  const duration = limits.DURATION_MS_MAX;
  const bounds: Bound[] = [
    ["gate.rate", limits.RATE_MIN, limits.RATE_MAX, (rate) => ({ rate }), 1e-7],
    ["gate.burst", 1, limits.BURST_MAX, (burst) => ({ rate: 1, burst }), 1e-7],
    ["gate.concurrency", 1, limits.CONCURRENCY_MAX, (concurrency) => ({ concurrency })],
    ["gate.interval.every", 0, duration, (every) => ({ interval: { every } })],
    ["gate.interval.floor", 0, duration, (floor) => ({ interval: { every: 1, floor } })],
    [
      "gate.interval.factors[0]",
      0,
      limits.FACTOR_MAX,
      (factor) => ({ interval: { every: 1, factors: [factor] } }),
    ],
    [
      "gate.windows[0].limit",
      1,
      limits.WINDOW_LIMIT_MAX,
      (limit) => ({ windows: [{ limit, per: 1 }] }),
    ],
    ["gate.windows[0].per", 1, duration, (per) => ({ windows: [{ limit: 1, per }] })],
    ["gate.ladder[0]", 1, duration, (rung) => ({ ladder: [rung] })],
  ];
  holdsBounds(bounds, refusedGate);
});

test("lists are bounded in length", () => {
  const window = { limit: 1, per: 1 };
  const lists: [string, number, number, (length: number) => unknown][] = [
    ["gate.windows", 0, limits.WINDOWS_MAX, (n) => ({ windows: Array(n).fill(window) })],
    ["gate.ladder", 0, limits.LADDER_RUNGS_MAX, (n) => ({ ladder: Array(n).fill(1) })],
    [
      "gate.interval.factors",
      1,
      limits.TIERS_MAX,
      (n) => ({ interval: { every: 1, factors: Array(n).fill(1) } }),
    ],
  ];
  for (const [field, min, max, options] of lists) {
    if (min > 0) assert.equal(refusedGate(options(min - 1)), field);
    for (const good of [min, max - 1, max]) assert.equal(refusedGate(options(good)), "", field);
    assert.equal(refusedGate(options(max + 1)), field);
  }
});

test("refuses a bad limit and names it", () => {
  for (const bad of [undefined, null, [], "open"]) assert.equal(refusedGate(bad), "gate");
  const cases: [unknown, string][] = [
    [{ burst: 5 }, "gate.burst"],
    [{ rate: -0.5 }, "gate.rate"],
    [{ rate: "1" }, "gate.rate"],
    [{ interval: {} }, "gate.interval.every"],
    [{ interval: "x" }, "gate.interval"],
    [{ interval: null }, "gate.interval"],
    [{ interval: { every: 1, floor: "x" } }, "gate.interval.floor"],
    [{ interval: { every: 1, from: "middle" } }, "gate.interval.from"],
    [{ interval: { ms: 5 } }, "gate.interval.ms"],
    [{ windows: { limit: 1 } }, "gate.windows"],
    [{ windows: [{}] }, "gate.windows[0].limit"],
    [{ windows: [7] }, "gate.windows[0]"],
    [{ windows: [{ limit: 1, perMs: 5 }] }, "gate.windows[0].perMs"],
    [{ ladder: "1m" }, "gate.ladder"],
    [{ ladder: ["1m", "x"] }, "gate.ladder[1]"],
    [JSON.parse('{"__proto__": {}}'), "gate.__proto__"],
  ];
  for (const [options, field] of cases) assert.equal(refusedGate(options), field);
});

test("a pattern is a name, or a prefix that ends in a star", () => {
  const long = "k".repeat(limits.NAME_BYTES_MAX);
  const refusedKey = (key: unknown): string => refused(() => GATE_PATTERN.parse("key", key));
  for (const good of ["a", "*", "indexer:*", long, `${long.slice(1)}*`]) {
    assert.equal(refusedKey(good), "", good);
  }
  for (const bad of ["", "a*b", "**", "é*", `${long}k`, `${long}*`, 5, undefined]) {
    assert.equal(refusedKey(bad), "key", String(bad));
  }
});

test("the reason of a cooldown is a line", () => {
  const reason = "r".repeat(limits.REASON_BYTES_MAX);
  assert.equal(COOLDOWN_REASON.parse("reason", reason), reason);
  for (const bad of [`${reason}r`, "é".repeat(513), 7]) {
    assert.equal(
      refused(() => COOLDOWN_REASON.parse("reason", bad)),
      "reason",
    );
  }
});
