import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { type QueueOptions, splitQueue } from "./queue-options.ts";

function refused(options: unknown): unknown {
  try {
    splitQueue(options);
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    return error.details.field;
  }
  return undefined;
}

const schema = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;

test("what is data travels as it is given", () => {
  const options: QueueOptions = {
    tiers: ["fast", "slow"],
    promoteAfter: null,
    capacity: { jobs: 10 },
    lease: "10s",
    retry: { attempts: 2, min: "2s" },
    results: { jobs: 5, ttl: "1h" },
    paused: true,
  };
  assert.deepEqual(splitQueue(options).stored, options);
  assert.deepEqual(splitQueue({}).stored, {});
});

test("what is code stays with the handle", () => {
  const retry = () => undefined;
  const policy = { weight: () => 2 };
  const { stored, local } = splitQueue({ retry, policy, schema, result: schema, codec: "bytes" });
  assert.deepEqual(stored, {});
  assert.deepEqual(local, { retry, policy, schema, result: schema, codec: "bytes" });
  assert.equal(splitQueue({}).local.codec, "json");
});

test("a policy is divided into functions and rules", () => {
  const key = (): string => "acme";
  const rules = {
    weight: { by: "{headers.plan}", values: { gold: 5 }, default: 1 },
    delay: "5s",
    lua: "function on_enqueue() end",
  } as const;
  const { stored, local } = splitQueue({ policy: { fairnessKey: key, ...rules } });
  assert.deepEqual(stored.policy, rules);
  assert.deepEqual(local.policy, { fairnessKey: key });
  assert.equal(splitQueue({ policy: null }).stored.policy, null);
});

test("what stays here is refused by its name", () => {
  assert.equal(refused(null), "queue");
  assert.equal(refused("mail"), "queue");
  assert.equal(refused({ leaseMs: 5 }), "queue.leaseMs");
  assert.equal(refused({ retry: { attempts: 5, rule: "never" } }), "queue.retry.rule");
  assert.equal(refused({ schema: {} }), "queue.schema");
  assert.equal(refused({ schema: null }), "queue.schema");
  assert.equal(refused({ codec: "xml" }), "queue.codec");
  assert.equal(refused({ policy: { group: "x" } }), "queue.policy.group");
  assert.equal(refused({ policy: { wait: () => 2 } }), "queue.policy.wait");
});
