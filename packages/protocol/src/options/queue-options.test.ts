import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueueConfig } from "@sluice/engine";
import * as limits from "../limits.ts";
import { type Bound, holdsBounds, refused as refusedBy } from "../testing/refused.ts";
import { answerQueue, letterQueueConfig, parseQueue } from "./queue-options.ts";

const parseQueueConfig = (name: string, options?: unknown, base?: QueueConfig): QueueConfig =>
  parseQueue(name, options, base).config;

const refused = (options: unknown, name = "q"): string =>
  refusedBy(() => parseQueueConfig(name, options));

const parse = (options?: unknown) => parseQueueConfig("q", options);
/** As JSON, so that parts that are switched off do not show. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

test("a queue without options has the documented defaults", () => {
  assert.deepEqual(plain(parse()), {
    tiers: [{ name: "0" }, { name: "1" }, { name: "2" }, { name: "3" }],
    tierOrder: "strict",
    fairness: true,
    ordered: false,
    weights: {},
    weight: 1,
    capacity: {
      jobs: 1_000_000,
      bytes: 1_073_741_824,
      delayed: 1_000_000,
      blocked: 1_000_000,
      running: 1_000_000,
    },
    onFull: "reject",
    addTimeoutMs: 5000,
    fullRetryMs: 10_000,
    leaseMs: 30_000,
    retry: {
      attempts: 5,
      minMs: 1000,
      maxMs: 300_000,
      factor: 2,
      jitter: 0.2,
      deliveries: 250,
    },
    dlq: "q.dlq",
    results: { jobs: 100_000, ms: 86_400_000 },
    paused: false,
  });
  assert.deepEqual(parse({}), parse());
});

test("keeps the given options, and the answer can be set again", () => {
  const options = {
    tiers: [{ name: "fast", capacity: 10, spillTo: 1 }, { name: "slow" }],
    tierOrder: [3, 1],
    promoteAfter: "10m",
    fairness: false,
    ordered: true,
    weights: { "acme/*": 3, constructor: 2 },
    weight: 7,
    capacity: { jobs: 5, bytes: 6, perLane: 2, delayed: 0, blocked: 3, running: 1 },
    onFull: "spill",
    addTimeout: 7,
    fullRetry: 5,
    admission: { fill: 0.8, rate: 0.5, burst: 2 },
    lease: "1s",
    retry: { attempts: 1, min: 0, max: "0s", factor: 1, jitter: 0, deliveries: 1 },
    dlq: "dead",
    retention: 9,
    results: { jobs: 0, ttl: 0 },
    ttl: 5,
    paused: true,
    policy: { delay: "5s", ttl: { by: "{headers.kind}", values: { once: "1m" } }, lua: "x" },
  };
  const config = parse(options);
  assert.deepEqual(plain(config), {
    tiers: options.tiers,
    tierOrder: [3, 1],
    fairness: false,
    ordered: true,
    weights: options.weights,
    weight: 7,
    capacity: options.capacity,
    onFull: "spill",
    admission: options.admission,
    dlq: "dead",
    paused: true,
    promoteAfterMs: 600_000,
    addTimeoutMs: 7,
    fullRetryMs: 5,
    leaseMs: 1000,
    retry: { attempts: 1, minMs: 0, maxMs: 0, factor: 1, jitter: 0, deliveries: 1 },
    retentionMs: 9,
    results: { jobs: 0, ms: 0 },
    ttlMs: 5,
    policy: { delayMs: 5000, ttlMs: { by: "{headers.kind}", values: { once: 60_000 } }, lua: "x" },
  });
  assert.deepEqual(parse(answerQueue(config)), config);
  assert.deepEqual(parse(JSON.parse(JSON.stringify(answerQueue(config)))), config);
  const other = parse({});
  assert.deepEqual(parseQueueConfig("q", answerQueue(other), config), other, "null switches off");
});

test("a change in place keeps what it does not mention", () => {
  const base = parse({ tiers: ["a", "b"], retry: { attempts: 9 }, ttl: 5, dlq: "dead" });
  const next = parseQueueConfig("q", { retry: { min: 7 }, capacity: { jobs: 3 } }, base);
  assert.deepEqual(next, {
    ...base,
    retry: { ...base.retry, minMs: 7 },
    capacity: { ...base.capacity, jobs: 3 },
  });
  assert.deepEqual(parseQueueConfig("q", {}, base), base);
  assert.equal(parseQueueConfig("q", {}, parse({ dlq: false })).dlq, false);
});

test("null switches a part off", () => {
  const base = parse({
    promoteAfter: 1,
    ttl: 1,
    admission: { fill: 1, rate: 4 },
    capacity: { perLane: 1 },
  });
  assert.deepEqual(base.admission, { fill: 1, rate: 4, burst: 4 });
  const off = { promoteAfter: null, ttl: null, admission: null, capacity: { perLane: null } };
  assert.deepEqual(parseQueueConfig("q", off, base), parse());
  assert.equal(refused({ weight: null }), "queue.weight");
  assert.equal(refused({ capacity: null }), "queue.capacity");
});

test("messages name the field and the value, unknown fields too", () => {
  assert.throws(() => parse({ retry: { attempts: -3 } }), {
    message: "queue.retry.attempts must be an integer from 1 to 1000, got -3",
  });
  assert.equal(refused({ retri: {} }), "queue.retri");
  assert.equal(refused({ retry: { maxMs: 1 } }), "queue.retry.maxMs");
  assert.equal(refused({ tiers: [{ weight: 1 }] }), "queue.tiers[0].weight");
  assert.equal(refused(JSON.parse('{"__proto__": 1}')), "queue.__proto__");
  for (const bad of [null, 7, "x", []]) assert.equal(refused(bad), "queue");
});

test("each number of a queue holds at its limit, below it and above it", () => {
  const { DURATION_MS_MAX: duration, CAPACITY_JOBS_MAX: jobs } = limits;
  const bounds: Bound[] = [
    ["queue.tiers", 1, limits.TIERS_MAX, (tiers) => ({ tiers })],
    ["queue.tiers[0].capacity", 1, jobs, (capacity) => ({ tiers: [{ capacity }] })],
    ["queue.tierOrder[0]", 1, limits.WEIGHT_MAX, (w) => ({ tiers: 1, tierOrder: [w] })],
    ["queue.promoteAfter", 1, duration, (promoteAfter) => ({ promoteAfter })],
    ["queue.weight", 1, limits.WEIGHT_MAX, (weight) => ({ weight })],
    ['queue.weights["a"]', 1, limits.WEIGHT_MAX, (a) => ({ weights: { a } })],
    ["queue.capacity.jobs", 1, jobs, (n) => ({ capacity: { jobs: n } })],
    ["queue.capacity.bytes", 1, limits.CAPACITY_BYTES_MAX, (bytes) => ({ capacity: { bytes } })],
    ["queue.capacity.perLane", 1, jobs, (perLane) => ({ capacity: { perLane } })],
    ["queue.capacity.delayed", 0, jobs, (delayed) => ({ capacity: { delayed } })],
    ["queue.capacity.running", 1, jobs, (running) => ({ capacity: { running } })],
    ["queue.fullRetry", 1, duration, (fullRetry) => ({ fullRetry })],
    ["queue.lease", 1, limits.LEASE_MS_MAX, (lease) => ({ lease })],
    ["queue.retry.attempts", 1, limits.ATTEMPTS_MAX, (attempts) => ({ retry: { attempts } })],
    ["queue.retry.deliveries", 1, limits.DELIVERIES_MAX, (n) => ({ retry: { deliveries: n } })],
    ["queue.retention", 1, duration, (retention) => ({ retention })],
    ["queue.retry.min", 0, duration, (min) => ({ retry: { min, max: duration } })],
    ["queue.retry.max", 0, duration, (max) => ({ retry: { min: 0, max } })],
    ["queue.retry.factor", 1, limits.FACTOR_MAX, (factor) => ({ retry: { factor } })],
    ["queue.results.jobs", 0, limits.RESULTS_JOBS_MAX, (n) => ({ results: { jobs: n } })],
    ["queue.results.ttl", 0, duration, (ttl) => ({ results: { ttl } })],
    ["queue.ttl", 1, duration, (ttl) => ({ ttl })],
    [
      "queue.admission.rate",
      limits.RATE_MIN,
      limits.RATE_MAX,
      (rate) => ({ admission: { fill: 0, rate } }),
      1e-7,
    ],
    [
      "queue.admission.burst",
      1,
      limits.BURST_MAX,
      (burst) => ({ admission: { fill: 0, rate: 1, burst } }),
    ],
  ];
  holdsBounds(bounds, refused);
});

test("fractions run from 0 to 1", () => {
  const fill = (value: unknown) => refused({ admission: { fill: value, rate: 1 } });
  const jitter = (value: unknown) => refused({ retry: { jitter: value } });
  for (const good of [0, 0.5, 1]) {
    assert.equal(fill(good), "");
    assert.equal(jitter(good), "");
  }
  for (const bad of [-0.001, 1.001, "half"]) {
    assert.equal(fill(bad), "queue.admission.fill");
    assert.equal(jitter(bad), "queue.retry.jitter");
  }
  assert.equal(refused({ admission: { rate: 1 } }), "queue.admission.fill");
  assert.equal(refused({ admission: { fill: 1 } }), "queue.admission.rate");
});

test("the shortest delay is not above the longest, whichever of them is given", () => {
  assert.equal(refused({ retry: { min: 5, max: 5 } }), "");
  assert.equal(refused({ retry: { min: 6, max: 5 } }), "queue.retry.min");
  assert.equal(refused({ retry: { max: 999 } }), "queue.retry.min");
});

test("flags and choices take nothing else", () => {
  assert.equal(refused({ fairness: 1 }), "queue.fairness");
  assert.equal(refused({ paused: "no" }), "queue.paused");
  assert.equal(refused({ onFull: "block" }), "queue.onFull");
  for (const onFull of ["reject", "drop", "spill", "wait"]) assert.equal(refused({ onFull }), "");
});

test("tiers are counted or named, each with its own name", () => {
  assert.deepEqual(parse({ tiers: 2 }).tiers, [{ name: "0" }, { name: "1" }]);
  assert.deepEqual(parse({ tiers: ["fast", {}] }).tiers, [{ name: "fast" }, { name: "1" }]);
  const names = Array.from({ length: limits.TIERS_MAX + 1 }, (_, i) => `t${i}`);
  assert.equal(refused({ tiers: [] }), "queue.tiers");
  assert.equal(refused({ tiers: names.slice(2) }), "");
  assert.equal(refused({ tiers: names.slice(1) }), "");
  assert.equal(refused({ tiers: names }), "queue.tiers");
  assert.equal(refused({ tiers: ["a", "b", "a"] }), "queue.tiers[2]");
  assert.equal(refused({ tiers: ["a b"] }), "queue.tiers[0]");
  assert.equal(refused({ tiers: [{ name: "" }] }), "queue.tiers[0].name");
  assert.equal(refused({ tiers: [7] }), "queue.tiers[0]");
  assert.equal(refused({ tiers: [undefined] }), "queue.tiers[0]");
  assert.equal(refused({ tiers: "four" }), "queue.tiers");
});

test("overflow goes to a less urgent tier only", () => {
  const spill = (from: number, spillTo: unknown) =>
    refused({ tiers: [0, 1, 2].map((i) => (i === from ? { spillTo } : {})) });
  assert.equal(spill(0, 1), "");
  assert.equal(spill(0, 2), "");
  assert.equal(spill(0, 3), "queue.tiers[0].spillTo");
  assert.equal(spill(1, 1), "queue.tiers[1].spillTo");
  assert.equal(spill(2, 3), "queue.tiers[2].spillTo");
  assert.equal(spill(1, -1), "queue.tiers[1].spillTo");
  assert.equal(spill(1, "2"), "queue.tiers[1].spillTo");
});

test("weighted tiers have one weight each, also after a change of tiers", () => {
  assert.equal(refused({ tierOrder: [4, 3, 2, 1] }), "");
  assert.equal(refused({ tierOrder: [4, 3, 2] }), "queue.tierOrder");
  assert.equal(refused({ tierOrder: "weighted" }), "queue.tierOrder");
  const base = parse({ tierOrder: [4, 3, 2, 1] });
  assert.throws(() => parseQueueConfig("q", { tiers: 3 }, base), /queue\.tierOrder must be/);
  assert.deepEqual(parseQueueConfig("q", { paused: true }, base).tierOrder, [4, 3, 2, 1]);
});

test("weight rules are bounded in number and in the length of their keys", () => {
  const rules = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
  assert.equal(refused({ weights: rules(limits.WEIGHT_RULES_MAX - 1) }), "");
  assert.equal(refused({ weights: rules(limits.WEIGHT_RULES_MAX) }), "");
  assert.equal(refused({ weights: rules(limits.WEIGHT_RULES_MAX + 1) }), "queue.weights");
  const key = "k".repeat(limits.WEIGHT_RULE_BYTES_MAX);
  assert.equal(refused({ weights: { [key.slice(1)]: 1 } }), "");
  assert.equal(refused({ weights: { [key]: 1 } }), "");
  assert.equal(refused({ weights: { [`${key}k`]: 1 } }), "queue.weights");
  assert.equal(refused({ weights: [1] }), "queue.weights");
});

test("a tenant called like a property of objects has no weight by accident", () => {
  assert.equal(parse().weights.constructor, undefined);
  const { weights } = parse({ weights: JSON.parse('{"__proto__": 5}') });
  assert.deepEqual(Object.entries(weights), [["__proto__", 5]]);
});

test("dead letters go to <queue>.dlq, those of a dead letter queue nowhere", () => {
  assert.equal(parseQueueConfig("q.dlq", {}).dlq, false);
  assert.equal(parseQueueConfig("q.dlq", { dlq: "more" }).dlq, "more");
  assert.equal(refused({ dlq: "q" }), "queue.dlq");
  assert.equal(refused({ dlq: true }), "queue.dlq");
  assert.equal(refused({ dlq: "a b" }), "queue.dlq");
});

test("a name has up to 255 bytes, with room for the suffix unless the dlq is named", () => {
  const long = "n".repeat(limits.NAME_BYTES_MAX);
  assert.equal(refused({}, long.slice(5)), "");
  assert.equal(refused({}, long.slice(4)), "");
  assert.equal(refused({}, long.slice(3)), "queue.dlq");
  assert.equal(refused({ dlq: false }, long), "");
  assert.equal(refused({ dlq: "dead" }, long), "");
  assert.equal(refused({ dlq: false }, `${long}n`), "queue.name");
  assert.equal(refused({}, ""), "queue.name");
});

test("a policy is replaced as a whole, and removed by null", () => {
  const base = parse({ policy: { fairnessKey: "{headers.tenant}" } });
  assert.deepEqual(base.policy, { fairnessKey: "{headers.tenant}" });
  assert.equal(parseQueueConfig("q", { paused: true }, base).policy, base.policy);
  assert.deepEqual(parseQueueConfig("q", { policy: { weight: 2 } }, base).policy, { weight: 2 });
  assert.equal(parseQueueConfig("q", { policy: null }, base).policy, undefined);
});

test("refuses a bad policy and names its field", () => {
  assert.equal(refused({ policy: "x" }), "queue.policy");
  assert.equal(refused({ policy: { weight: true } }), "queue.policy.weight");
  assert.equal(refused({ policy: { group: "x" } }), "queue.policy.group");
  assert.equal(refused({ policy: { delay: "soon" } }), "queue.policy.delay");
  assert.equal(refused({ policy: { ttl: { by: "x", values: 5 } } }), "queue.policy.ttl.values");
  assert.equal(refused({ policy: { gates: "a" } }), "queue.policy.gates");
  assert.equal(refused({ policy: { lua: () => 5 } }), "queue.policy.lua");
});

test("a value is named as it was given", () => {
  const message = 'queue.retry.min must be at most max (60000), got "10m"';
  assert.throws(() => parse({ retry: { min: "10m", max: "1m" } }), { message });
  assert.throws(() => parse({ lease: "0s" }), /^SluiceError: queue\.lease must be .*, got "0s"$/);
});

test("the queue that dead letters go to is made with the defaults", () => {
  assert.deepEqual(letterQueueConfig("dead"), parseQueueConfig("dead", {}));
  const long = "n".repeat(limits.NAME_BYTES_MAX);
  assert.equal(letterQueueConfig(long).dlq, false, "its name leaves no room for a suffix");
});
