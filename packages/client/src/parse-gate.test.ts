import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { parseGate } from "./parse-gate.ts";

function refused(options: unknown): unknown {
  try {
    parseGate(options);
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    return error.details.field;
  }
  return undefined;
}

test("every part reaches the port with its durations in milliseconds", () => {
  assert.deepEqual(parseGate({}), {});
  assert.deepEqual(
    parseGate({
      rate: 50,
      burst: 100,
      interval: { every: "1m", from: "start", factors: [0.1, 1], floor: "5s" },
      windows: [
        { limit: 10, per: "1m" },
        { limit: 100, per: "1d" },
      ],
      concurrency: 4,
      ladder: ["1m", 5_000],
    }),
    {
      rate: 50,
      burst: 100,
      interval: { ms: 60_000, from: "start", factors: [0.1, 1], floorMs: 5_000 },
      windows: [
        { limit: 10, perMs: 60_000 },
        { limit: 100, perMs: 86_400_000 },
      ],
      concurrency: 4,
      ladder: [60_000, 5_000],
    },
  );
});

test("an interval alone is a duration", () => {
  assert.deepEqual(parseGate({ interval: "10s" }), { interval: { ms: 10_000 } });
  assert.deepEqual(parseGate({ interval: 250 }), { interval: { ms: 250 } });
});

test("a bad part is refused by its name", () => {
  assert.equal(refused(undefined), "gate");
  assert.equal(refused([]), "gate");
  assert.equal(refused({ rates: 1 }), "gate.rates");
  assert.equal(refused({ interval: "x" }), "gate.interval");
  assert.equal(refused({ interval: null }), "gate.interval");
  assert.equal(refused({ interval: {} }), "gate.interval.every");
  assert.equal(refused({ interval: { every: 1, floor: "x" } }), "gate.interval.floor");
  assert.equal(refused({ interval: { ms: 5 } }), "gate.interval.ms");
  assert.equal(refused({ windows: {} }), "gate.windows");
  assert.equal(refused({ windows: [{ limit: 1, per: "x" }] }), "gate.windows[0].per");
  assert.equal(refused({ windows: [{ limit: 1, perMs: 5 }] }), "gate.windows[0].perMs");
  assert.equal(refused({ ladder: ["1m", "x"] }), "gate.ladder[1]");
});
