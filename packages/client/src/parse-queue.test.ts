import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { parseQueue, type QueueOptions } from "./parse-queue.ts";

function refused(options: unknown): unknown {
  try {
    parseQueue(options);
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    return error.details.field;
  }
  return undefined;
}

const schema = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;

test("every option that the broker keeps reaches it", () => {
  const options: QueueOptions = {
    tiers: ["fast", "slow"],
    tierOrder: [3, 1],
    promoteAfter: "1m",
    fairness: false,
    weights: { acme: 2 },
    weight: 3,
    capacity: { jobs: 10 },
    onFull: "wait",
    addTimeout: "2s",
    fullRetry: "20s",
    admission: { fill: 0.8, rate: 10 },
    lease: "10s",
    retry: { attempts: 2, min: "2s" },
    dlq: false,
    results: { jobs: 5, ttl: "1h" },
    ttl: "1d",
    paused: true,
  };
  assert.deepEqual(parseQueue(options).port, {
    tiers: ["fast", "slow"],
    tierOrder: [3, 1],
    promoteAfterMs: 60_000,
    fairness: false,
    weights: { acme: 2 },
    weight: 3,
    capacity: { jobs: 10 },
    onFull: "wait",
    addTimeoutMs: 2_000,
    fullRetryMs: 20_000,
    admission: { fill: 0.8, rate: 10 },
    leaseMs: 10_000,
    retry: { attempts: 2, minMs: 2_000 },
    dlq: false,
    results: { jobs: 5, ms: 3_600_000 },
    ttlMs: 86_400_000,
    paused: true,
  });
});

test("what is not said is not sent, so that it keeps its value", () => {
  assert.deepEqual(parseQueue({}).port, {});
  assert.deepEqual(parseQueue({ paused: undefined, ttl: undefined }).port, {});
  assert.deepEqual(parseQueue({ promoteAfter: null }).port, { promoteAfterMs: null });
});

test("what is code stays with the handle", () => {
  const retry = () => undefined;
  const policy = { weight: () => 2 };
  const { port, local } = parseQueue({ retry, policy, schema, result: schema, codec: "bytes" });
  assert.deepEqual(port, {});
  assert.deepEqual(local, { retry, policy, schema, result: schema, codec: "bytes" });
  assert.equal(parseQueue({}).local.codec, "json");
});

test("what of a policy is data reaches the broker, in its words", () => {
  const key = (): string => "acme";
  const { port, local } = parseQueue({
    policy: {
      fairnessKey: key,
      weight: { by: "{headers.plan}", values: { gold: 5 }, default: 1 },
      gates: ["provider:{headers.provider}"],
      delay: "5s",
      ttl: { by: "{headers.kind}", values: { "one-time": "1m" }, default: "1h" },
      lease: "{headers.lease}",
      lua: "function on_enqueue() end",
    },
  });
  assert.deepEqual(port.policy, {
    weight: { by: "{headers.plan}", values: { gold: 5 }, default: 1 },
    gates: ["provider:{headers.provider}"],
    delayMs: 5_000,
    ttlMs: { by: "{headers.kind}", values: { "one-time": 60_000 }, default: 3_600_000 },
    leaseMs: "{headers.lease}",
    lua: "function on_enqueue() end",
  });
  assert.deepEqual(local.policy, { fairnessKey: key });
  assert.deepEqual(parseQueue({ policy: null }).port, { policy: null });
});

test("a bad option is refused by its name", () => {
  assert.equal(refused(null), "queue");
  assert.equal(refused("mail"), "queue");
  assert.equal(refused({ leaseMs: 5 }), "queue.leaseMs");
  assert.equal(refused({ lease: "2d" }), "queue.lease");
  assert.equal(refused({ ttl: "x" }), "queue.ttl");
  assert.equal(refused({ promoteAfter: "x" }), "queue.promoteAfter");
  assert.equal(refused({ retry: 5 }), "queue.retry");
  assert.equal(refused({ retry: { tries: 5 } }), "queue.retry.tries");
  assert.equal(refused({ retry: { attempts: 5, rule: "never" } }), "queue.retry.rule");
  assert.equal(refused({ results: { ttl: "x" } }), "queue.results.ttl");
  assert.equal(refused({ results: { ms: 5 } }), "queue.results.ms");
  assert.equal(refused({ schema: {} }), "queue.schema");
  assert.equal(refused({ schema: null }), "queue.schema");
  assert.equal(refused({ codec: "xml" }), "queue.codec");
  assert.equal(refused({ policy: { weight: true } }), "queue.policy.weight");
  assert.equal(refused({ policy: { group: "x" } }), "queue.policy.group");
  assert.equal(refused({ policy: { delay: "soon" } }), "queue.policy.delay");
  assert.equal(refused({ policy: { ttl: { by: "x", values: 5 } } }), "queue.policy.ttl.values");
  assert.equal(refused({ policy: { lua: () => 5 } }), "queue.policy.lua");
  assert.equal(refused({ policy: { wait: () => 2 } }), "queue.policy.wait");
});
