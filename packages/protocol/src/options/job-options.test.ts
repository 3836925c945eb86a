import assert from "node:assert/strict";
import { test } from "node:test";
import { refused as refusedBy } from "../testing/refused.ts";
import { hearOptions, type JobOptions, parseJob, readJob, tellOptions } from "./job-options.ts";

function read(options: object): Record<string, unknown> {
  const job = {};
  readJob(job, options);
  return job;
}

const refused = (options: object): string => refusedBy(() => read(options));

test("every option reaches the port under its own name and unit", () => {
  const options: Required<Omit<JobOptions, "runAt" | "deadline">> = {
    fairnessKey: ["acme", "user-7"],
    weight: 2,
    priority: "urgent",
    gates: ["smtp"],
    cost: 3,
    delay: "5s",
    ttl: "1h",
    maxWait: "1m",
    dedupe: { key: "k", mode: "window", window: "2m" },
    group: "g",
    after: ["b12", { id: "b13", onDependencyFailure: "run" }],
    headers: { tenant: "acme" },
    attempts: 7,
    backoff: { min: "1s", max: "1m", factor: 3, jitter: 0 },
    lease: "30s",
    ordered: true,
  };
  assert.deepEqual(read(options), {
    fairnessKey: ["acme", "user-7"],
    weight: 2,
    priority: "urgent",
    gates: ["smtp"],
    cost: 3,
    delayMs: 5_000,
    ttlMs: 3_600_000,
    maxWaitMs: 60_000,
    dedupe: { key: "k", mode: "window", windowMs: 120_000 },
    group: "g",
    after: [{ id: "b12" }, { id: "b13", onDependencyFailure: "run" }],
    headers: { tenant: "acme" },
    attempts: 7,
    backoff: { minMs: 1_000, maxMs: 60_000, factor: 3, jitter: 0 },
    leaseMs: 30_000,
    ordered: true,
  });
});

test("points in time are dates or numbers", () => {
  assert.deepEqual(read({ runAt: new Date(5), deadline: 9 }), { runAt: 5, deadline: 9 });
});

test("dedupe has the mode pending unless the options name another", () => {
  assert.deepEqual(read({ dedupe: { key: "k" } }), { dedupe: { key: "k", mode: "pending" } });
});

test("leaves out options that are undefined", () => {
  assert.deepEqual(read({ delay: undefined, weight: undefined, unknown: undefined }), {});
});

test("refuses a bad value and names its option", () => {
  assert.equal(refused({ delay: "soon" }), "job.delay");
  assert.equal(refused({ delay: -1 }), "job.delay");
  assert.equal(refused({ runAt: "tomorrow" }), "job.runAt");
  assert.equal(refused({ ttl: {} }), "job.ttl");
  assert.equal(refused({ deadline: new Date(Number.NaN) }), "job.deadline");
  assert.equal(refused({ maxWait: "1" }), "job.maxWait");
  assert.equal(refused({ lease: "2d" }), "job.lease");
  assert.equal(refused({ dedupe: "k" }), "job.dedupe");
  assert.equal(refused({ dedupe: { key: "k", window: "x" } }), "job.dedupe.window");
  assert.equal(refused({ dedupe: { key: "k", widow: 1 } }), "job.dedupe.widow");
  assert.equal(refused({ backoff: 5 }), "job.backoff");
  assert.equal(refused({ backoff: { min: "x" } }), "job.backoff.min");
  assert.equal(refused({ backoff: { minMs: 5 } }), "job.backoff.minMs");
  assert.equal(refused({ backoff: { attempts: 3 } }), "job.backoff.attempts");
});

test("a misspelt option is refused and not ignored", () => {
  assert.equal(refused({ delayMs: 5 }), "job.delayMs");
  assert.equal(refused({ fairnesKey: "a" }), "job.fairnesKey");
});

test("the stream carries options by their own names, and texts as durations", () => {
  const inner = {
    delayMs: 5_000,
    maxWaitMs: 60_000,
    dedupe: { key: "k", mode: "window", windowMs: 120_000 },
    backoff: { minMs: 1_000 },
    cost: 2,
  };
  const told = tellOptions(inner);
  assert.deepEqual(told, {
    delay: 5_000,
    maxWait: 60_000,
    dedupe: { key: "k", mode: "window", window: 120_000 },
    backoff: { min: 1_000 },
    cost: 2,
  });
  assert.deepEqual(hearOptions(told), inner);
  assert.deepEqual(hearOptions({ delay: "5s", backoff: { min: "1s" } }), {
    delayMs: 5_000,
    backoff: { minMs: 1_000 },
  });
});

test("the stream's unreadable options are refused by the name that was sent", () => {
  const payload = new Uint8Array(1);
  const heard = (told: object): string => {
    const again = hearOptions(tellOptions(hearOptions(told)));
    return refusedBy(() => parseJob({ payload, ...again }));
  };
  assert.equal(heard({ delay: "soon" }), "job.delay");
  assert.equal(heard({ delayMs: 1 }), "job.delayMs");
  assert.equal(heard({ delay: 1, delayMs: 1 }), "job.delayMs");
  assert.equal(heard({ delayMs: 1, delay: 1 }), "job.delayMs");
  assert.equal(heard({ backoff: { minMs: 5 } }), "job.backoff.minMs");
  assert.equal(heard({ dely: 5, cost: 1 }), "job.dely");
  assert.equal(heard({ unread: 5 }), "job.unread");
  assert.equal(heard(JSON.parse('{"__proto__":{"cost":2}}')), "job.__proto__");
});
