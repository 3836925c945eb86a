import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../errors.ts";
import * as limits from "../limits.ts";
import { parseCooldown, parseGateConfig, parseGateKey, parseGatePattern } from "./parse-gate.ts";

/** The field that a refusal names. */
function refused(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === "INVALID", String(error));
    assert.ok(error.message.startsWith(String(error.details.field)));
    return String(error.details.field);
  }
  return "";
}

const refusedConfig = (config: unknown) => refused(() => parseGateConfig("g", config));

test("the parts that are given are kept, with their defaults", () => {
  assert.deepEqual(parseGateConfig("g", {}), {});
  assert.deepEqual(parseGateConfig("g", { rate: 2.5 }), { rate: 2.5, burst: 2.5 });
  assert.deepEqual(parseGateConfig("g", { rate: 0 }), { rate: 0, burst: 1 });
  assert.deepEqual(parseGateConfig("g", { interval: { ms: 5 } }), {
    interval: { ms: 5, from: "end" },
  });
  assert.deepEqual(parseGateConfig("g", { windows: [], ladder: [], concurrency: undefined }), {});
  const all = {
    rate: 1,
    burst: 4,
    interval: { ms: 60_000, from: "start", factors: [0.1, 1], floorMs: 10 },
    windows: [{ limit: 5, perMs: 1000 }],
    concurrency: 2,
    ladder: [60_000, 300_000],
  };
  assert.deepEqual(parseGateConfig("indexer:*", all), all);
});

test("a message names the field and the value", () => {
  assert.throws(() => parseGateConfig("g", { windows: [{ limit: 0, perMs: 1 }] }), {
    message: "gate.windows[0].limit must be an integer from 1 to 1000000, got 0",
  });
  assert.throws(() => parseGateConfig("g", { rates: 1 }), {
    message:
      "gate.rates is not a known field; known are " +
      "rate, burst, interval, windows, concurrency, ladder",
  });
});

test("each limit of a gate holds at it, below it and above it", () => {
  const bounds: [string, number, number, (value: number) => unknown, number?][] = [
    ["gate.rate", limits.RATE_MIN, limits.RATE_MAX, (rate) => ({ rate }), 1e-7],
    ["gate.burst", 1, limits.BURST_MAX, (burst) => ({ rate: 1, burst }), 1e-7],
    ["gate.concurrency", 1, limits.CONCURRENCY_MAX, (concurrency) => ({ concurrency })],
    ["gate.interval.ms", 0, limits.DURATION_MS_MAX, (ms) => ({ interval: { ms } })],
    [
      "gate.interval.floorMs",
      0,
      limits.DURATION_MS_MAX,
      (floorMs) => ({ interval: { ms: 1, floorMs } }),
    ],
    [
      "gate.interval.factors[0]",
      0,
      limits.FACTOR_MAX,
      (factor) => ({ interval: { ms: 1, factors: [factor] } }),
    ],
    [
      "gate.windows[0].limit",
      1,
      limits.WINDOW_LIMIT_MAX,
      (limit) => ({ windows: [{ limit, perMs: 1 }] }),
    ],
    [
      "gate.windows[0].perMs",
      1,
      limits.DURATION_MS_MAX,
      (perMs) => ({ windows: [{ limit: 1, perMs }] }),
    ],
    ["gate.ladder[0]", 1, limits.DURATION_MS_MAX, (rung) => ({ ladder: [rung] })],
  ];
  for (const [field, min, max, config, below = 1] of bounds) {
    assert.equal(refusedConfig(config(min)), "", field);
    assert.equal(refusedConfig(config(min + 1)), "", field);
    assert.equal(refusedConfig(config(min - below)), field);
    assert.equal(refusedConfig(config(max - 1)), "", field);
    assert.equal(refusedConfig(config(max)), "", field);
    assert.equal(refusedConfig(config(max + 1)), field);
    for (const bad of [Number.NaN, Infinity, "1", null, {}]) {
      assert.equal(refusedConfig(config(bad as number)), field);
    }
  }
});

test("lists are bounded in length", () => {
  const lists: [string, number, number, (length: number) => unknown][] = [
    [
      "gate.windows",
      0,
      limits.WINDOWS_MAX,
      (length) => ({ windows: Array.from({ length }, () => ({ limit: 1, perMs: 1 })) }),
    ],
    ["gate.ladder", 0, limits.LADDER_RUNGS_MAX, (length) => ({ ladder: Array(length).fill(1) })],
    [
      "gate.interval.factors",
      1,
      limits.TIERS_MAX,
      (length) => ({ interval: { ms: 1, factors: Array(length).fill(1) } }),
    ],
  ];
  for (const [field, min, max, config] of lists) {
    if (min > 0) assert.equal(refusedConfig(config(min - 1)), field);
    assert.equal(refusedConfig(config(min)), "");
    assert.equal(refusedConfig(config(max - 1)), "");
    assert.equal(refusedConfig(config(max)), "");
    assert.equal(refusedConfig(config(max + 1)), field);
  }
});

test("what makes no sense is refused by name", () => {
  assert.equal(refusedConfig(undefined), "gate");
  assert.equal(refusedConfig(null), "gate");
  assert.equal(refusedConfig([]), "gate");
  assert.equal(refusedConfig("open"), "gate");
  assert.equal(refusedConfig({ burst: 5 }), "gate.burst");
  assert.equal(refusedConfig({ rate: -0.5 }), "gate.rate");
  assert.equal(refusedConfig({ interval: {} }), "gate.interval.ms");
  assert.equal(refusedConfig({ interval: { ms: 1.5 } }), "gate.interval.ms");
  assert.equal(refusedConfig({ interval: { ms: 1, from: "middle" } }), "gate.interval.from");
  assert.equal(refusedConfig({ interval: { ms: 1, per: 2 } }), "gate.interval.per");
  assert.equal(refusedConfig({ windows: { limit: 1 } }), "gate.windows");
  assert.equal(refusedConfig({ windows: [undefined] }), "gate.windows[0].limit");
  assert.equal(refusedConfig({ windows: [7] }), "gate.windows[0]");
  assert.equal(refusedConfig({ ladder: "1m" }), "gate.ladder");
  assert.equal(refusedConfig(JSON.parse('{"__proto__": {}}')), "gate.__proto__");
  assert.equal(
    refused(() => parseGateConfig("a b", {})),
    "gate.key",
  );
});

test("a key is a name, and a pattern may end in a star", () => {
  const long = "k".repeat(limits.NAME_BYTES_MAX);
  assert.equal(parseGateKey("key", long), long);
  assert.equal(parseGateKey("key", long.slice(1)), long.slice(1));
  assert.equal(
    refused(() => parseGateKey("key", `${long}k`)),
    "key",
  );
  assert.equal(
    refused(() => parseGateKey("key", "a*")),
    "key",
  );
  assert.equal(parseGatePattern("key", "a"), "a");
  assert.equal(parseGatePattern("key", "*"), "*");
  assert.equal(parseGatePattern("key", "indexer:*"), "indexer:*");
  assert.equal(parseGatePattern("key", `${long.slice(2)}*`), `${long.slice(2)}*`);
  assert.equal(parseGatePattern("key", `${long.slice(1)}*`), `${long.slice(1)}*`);
  assert.equal(
    refused(() => parseGatePattern("key", `${long}*`)),
    "key",
  );
  for (const bad of ["", "a*b", "**", "é*", 5, undefined]) {
    assert.equal(
      refused(() => parseGatePattern("key", bad)),
      "key",
      String(bad),
    );
  }
});

test("a cooldown has a length and a line of reason", () => {
  const reason = "r".repeat(limits.REASON_BYTES_MAX);
  assert.deepEqual(parseCooldown(0, undefined), { ms: 0, reason: "" });
  assert.deepEqual(parseCooldown(limits.DURATION_MS_MAX, reason), {
    ms: limits.DURATION_MS_MAX,
    reason,
  });
  assert.equal(
    refused(() => parseCooldown(-1, "")),
    "cooldown.ms",
  );
  assert.equal(
    refused(() => parseCooldown(limits.DURATION_MS_MAX + 1, "")),
    "cooldown.ms",
  );
  assert.equal(
    refused(() => parseCooldown(1, reason.slice(1))),
    "",
  );
  assert.equal(
    refused(() => parseCooldown(1, `${reason}r`)),
    "cooldown.reason",
  );
  assert.equal(
    refused(() => parseCooldown(1, 7)),
    "cooldown.reason",
  );
});
