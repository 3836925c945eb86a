import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../errors.ts";
import * as limits from "../limits.ts";
import { queueConfig } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";
import { checkJob, distinctGates, tierOf } from "./parse-job.ts";

const queue = queueConfig("q", { tiers: ["fast", "normal", "slow"] });

/** The field that a refusal names; empty when nothing is refused. */
function refused(spec: unknown): string {
  try {
    checkJob(spec as JobSpec, queue);
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === "INVALID", String(error));
    assert.ok(error.message.startsWith(String(error.details.field)));
    return String(error.details.field);
  }
  return "";
}

test("a job that says nothing is valid and goes to the last tier", () => {
  assert.equal(checkJob({}, queue), 2);
  assert.equal(checkJob({ fairnessKey: "acme", gates: ["smtp"], priority: 0 }, queue), 0);
  for (const bad of [undefined, null, 7, "x"]) assert.equal(refused(bad), "job");
});

test("a priority is the index or the name of a tier", () => {
  assert.equal(tierOf(undefined, queue), 2);
  assert.equal(tierOf(0, queue), 0);
  assert.equal(tierOf(2, queue), 2);
  assert.equal(tierOf("normal", queue), 1);
  for (const bad of [-1, 3, 0.5, Number.NaN, "urgent", "1", null, {}]) {
    assert.equal(refused({ priority: bad }), "job.priority");
  }
});

test("each number of a job holds at its limit, below it and above it", () => {
  const { DURATION_MS_MAX: duration, TIME_MS_MAX: time } = limits;
  const bounds: [string, number, number, (value: unknown) => unknown][] = [
    ["job.weight", 1, limits.WEIGHT_MAX, (weight) => ({ weight })],
    ["job.cost", 1, limits.COST_MAX, (cost) => ({ cost })],
    ["job.attempts", 1, limits.ATTEMPTS_MAX, (attempts) => ({ attempts })],
    ["job.lease", 1, limits.LEASE_MS_MAX, (leaseMs) => ({ leaseMs })],
    ["job.delay", 0, duration, (delayMs) => ({ delayMs })],
    ["job.runAt", 0, time, (runAt) => ({ runAt })],
    ["job.ttl", 0, duration, (ttlMs) => ({ ttlMs })],
    ["job.maxWait", 0, duration, (maxWaitMs) => ({ maxWaitMs })],
    ["job.deadline", 0, time, (deadline) => ({ deadline })],
    ["job.sizeBytes", 0, 32 * 1024 * 1024, (sizeBytes) => ({ sizeBytes })],
    ["job.backoff.attempts", 1, limits.ATTEMPTS_MAX, (n) => ({ backoff: { attempts: n } })],
    [
      "job.dedupe.window",
      1,
      duration,
      (windowMs) => ({ dedupe: { key: "k", mode: "window", windowMs } }),
    ],
  ];
  for (const [field, min, max, spec] of bounds) {
    for (const good of [min, min + 1, max - 1, max]) assert.equal(refused(spec(good)), "", field);
    for (const bad of [min - 1, max + 1, Number.POSITIVE_INFINITY, Number.NaN, "1", null]) {
      assert.equal(refused(spec(bad)), field, `${field}: ${bad}`);
    }
  }
  for (const field of ["weight", "cost", "attempts", "leaseMs", "sizeBytes"]) {
    assert.equal(refused({ [field]: 1.5 }), `job.${field.replace("Ms", "")}`);
  }
});

test("a fairness key is a string of 1 KiB or a path of up to four", () => {
  const long = "k".repeat(limits.KEY_BYTES_MAX);
  for (const good of ["", "a", long.slice(1), long, "é".repeat(512), [""], ["a", "b", "c"]]) {
    assert.equal(refused({ fairnessKey: good }), "");
  }
  assert.equal(refused({ fairnessKey: [long, long, long, long] }), "");
  assert.equal(refused({ fairnessKey: ["1", "2", "3", "4", "5"] }), "job.fairnessKey");
  assert.equal(refused({ fairnessKey: ["a", `${long}k`] }), "job.fairnessKey[1]");
  assert.equal(refused({ fairnessKey: ["a", 7] }), "job.fairnessKey[1]");
  for (const bad of [`${long}k`, `${"é".repeat(512)}k`, [], 7, null, {}]) {
    assert.equal(refused({ fairnessKey: bad }), "job.fairnessKey");
  }
});

test("gates are up to 16 names", () => {
  const names = Array.from({ length: limits.JOB_GATES_MAX + 1 }, (_, i) => `gate:${i}`);
  assert.equal(refused({ gates: [] }), "");
  assert.equal(refused({ gates: names.slice(2) }), "");
  assert.equal(refused({ gates: names.slice(1) }), "");
  assert.equal(refused({ gates: names }), "job.gates");
  assert.equal(refused({ gates: "smtp" }), "job.gates");
  assert.equal(refused({ gates: null }), "job.gates");
  const long = "g".repeat(limits.NAME_BYTES_MAX);
  assert.equal(refused({ gates: [long.slice(1), long] }), "");
  assert.equal(refused({ gates: ["a", `${long}g`] }), "job.gates[1]");
  for (const bad of ["", "a*", "a b", 7, undefined]) {
    assert.equal(refused({ gates: [bad] }), "job.gates[0]");
  }
});

test("a gate that is named twice is one gate", () => {
  const gates = ["a", "b", "c"];
  assert.equal(distinctGates(gates), gates);
  assert.deepEqual(distinctGates(["a", "b", "a", "c", "b"]), gates);
  assert.deepEqual(distinctGates([]), []);
});

test("one way to say when, and one to say until when", () => {
  assert.equal(refused({ delayMs: 1, runAt: 1 }), "job.runAt");
  assert.equal(refused({ ttlMs: 1, deadline: 1 }), "job.deadline");
  assert.equal(refused({ delayMs: 1, deadline: 1 }), "");
  assert.equal(refused({ runAt: 1, ttlMs: 1 }), "");
});

test("dedupe has a key, a mode and what the mode needs", () => {
  const long = "k".repeat(limits.KEY_BYTES_MAX);
  const dedupe = (value: unknown, rest: object = {}) => refused({ dedupe: value, ...rest });
  for (const mode of ["pending", "replace", "keepLast"])
    assert.equal(dedupe({ key: "k", mode }), "");
  assert.equal(dedupe({ key: long.slice(1), mode: "pending" }), "");
  assert.equal(dedupe({ key: long, mode: "pending" }), "");
  for (const key of [`${long}k`, "", 7, undefined]) {
    assert.equal(dedupe({ key, mode: "pending" }), "job.dedupe.key");
  }
  for (const mode of ["never", undefined, 1]) {
    assert.equal(dedupe({ key: "k", mode }), "job.dedupe.mode");
  }
  assert.equal(dedupe({ key: "k", mode: "window" }), "job.dedupe.window");
  assert.equal(dedupe({ key: "k", mode: "pending", windowMs: 5 }), "job.dedupe.window");
  assert.equal(dedupe({ key: "k", mode: "debounce" }), "job.delay");
  assert.equal(dedupe({ key: "k", mode: "debounce" }, { delayMs: 5 }), "");
  for (const bad of ["k", null, []]) assert.equal(dedupe(bad), "job.dedupe");
});

test("a group is a name, alone or behind the name of a queue", () => {
  const long = "g".repeat(limits.NAME_BYTES_MAX);
  assert.equal(refused({ group: long.slice(1) }), "");
  assert.equal(refused({ group: long }), "");
  assert.equal(refused({ group: `${long}/${long}` }), "");
  for (const bad of [`${long}g`, "", "a b", 7, "/a", "a/", "a/b/c", `a/${long}g`]) {
    assert.equal(refused({ group: bad }), "job.group");
  }
});

test("a backoff is checked together with the queue's", () => {
  assert.equal(refused({ backoff: { minMs: 5, factor: 3, jitter: 1 } }), "");
  assert.equal(refused({ backoff: { minMs: queue.retry.maxMs } }), "");
  assert.equal(refused({ backoff: { minMs: queue.retry.maxMs + 1 } }), "job.backoff.min");
  assert.equal(refused({ backoff: { delay: 5 } }), "job.backoff.delay");
  assert.equal(refused({ backoff: 5 }), "job.backoff");
});

test("whatever comes, it is valid or refused with INVALID", () => {
  const field = fc.constantFrom(
    ...["fairnessKey", "weight", "priority", "gates", "cost", "delayMs", "runAt", "ttlMs"],
    ...["deadline", "maxWaitMs", "dedupe", "group", "attempts", "backoff", "leaseMs", "sizeBytes"],
  );
  fc.assert(
    fc.property(fc.dictionary(field, fc.anything()), (spec) => {
      refused(spec);
    }),
    { numRuns: 5000 },
  );
});
