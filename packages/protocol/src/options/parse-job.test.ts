import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SluiceError } from "../errors.ts";
import type { NewJob } from "../job.ts";
import * as limits from "../limits.ts";
import { parseJob } from "./job-options.ts";

const payload = new Uint8Array(1);

function refusedJob(job: unknown): string {
  try {
    parseJob(job as NewJob);
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    assert.ok(error.message.startsWith(String(error.details.field)));
    return String(error.details.field);
  }
  return "";
}

/** The field that a refusal names; empty when nothing is refused. */
const refused = (options: object): string => refusedJob({ payload, ...options });

test("a job with only a payload is valid", () => {
  assert.equal(parseJob({ payload }).payload, payload);
  assert.equal(refused({ fairnessKey: "acme", gates: ["smtp"], priority: 0 }), "");
  for (const bad of [undefined, null, 7, "x"]) assert.equal(refusedJob(bad), "job");
  for (const bad of [undefined, null, "x", [1]]) {
    assert.equal(refusedJob({ payload: bad }), "job.payload");
  }
});

test("a parsed job is a new object of one shape, with all given options", () => {
  const said = { payload, weight: 2, delayMs: 5, headers: { a: "b" }, cost: undefined };
  const parsed = parseJob(said);
  const { weight, delayMs, headers } = parsed;
  assert.deepEqual({ weight, delayMs, headers }, { weight: 2, delayMs: 5, headers: { a: "b" } });
  assert.deepEqual(Object.keys(parsed), Object.keys(parseJob({ payload })));
});

test("an unknown option is refused, and the message names the known ones", () => {
  assert.equal(refused({ dely: 5 }), "job.dely");
  assert.equal(refused({ delay: 5 }), "job.delay");
  assert.equal(refused({ body: 5 }), "job.body");
  assert.equal(refused({ dely: undefined }), "");
  const bad = { payload, dely: 5 };
  assert.throws(() => parseJob(bad), /job\.dely is not a known field; known are .*delayMs/);
});

test("a priority is an integer or a text: the queue knows its tiers", () => {
  for (const good of [0, 2, "normal"]) assert.equal(refused({ priority: good }), "");
  for (const bad of [0.5, Number.NaN, null, {}]) {
    assert.equal(refused({ priority: bad }), "job.priority");
  }
});

test("headers are texts, up to a number and a size", () => {
  const many = (count: number, text = ""): object => ({
    headers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`h${i}`, text])),
  });
  const long = (size: number): object => ({ headers: { é: "x".repeat(size - 2) } });
  for (const good of [limits.HEADERS_MAX - 1, limits.HEADERS_MAX]) {
    assert.equal(refused(many(good)), "");
  }
  assert.equal(refused(many(limits.HEADERS_MAX + 1)), "job.headers");
  for (const good of [limits.HEADERS_BYTES_MAX - 1, limits.HEADERS_BYTES_MAX]) {
    assert.equal(refused(long(good)), "");
  }
  assert.equal(refused(long(limits.HEADERS_BYTES_MAX + 1)), "job.headers");
  for (const bad of [null, "x", ["x"]]) assert.equal(refused({ headers: bad }), "job.headers");
  assert.equal(refused({ headers: { a: 1 } }), "job.headers.a");
});

test("each number of a job holds at its limit, below it and above it", () => {
  const { DURATION_MS_MAX: duration, TIME_MS_MAX: time } = limits;
  const bounds: [string, number, number, (value: unknown) => object][] = [
    ["job.weight", 1, limits.WEIGHT_MAX, (weight) => ({ weight })],
    ["job.cost", 1, limits.COST_MAX, (cost) => ({ cost })],
    ["job.attempts", 1, limits.ATTEMPTS_MAX, (attempts) => ({ attempts })],
    ["job.lease", 1, limits.LEASE_MS_MAX, (leaseMs) => ({ leaseMs })],
    ["job.delay", 0, duration, (delayMs) => ({ delayMs })],
    ["job.runAt", 0, time, (runAt) => ({ runAt })],
    ["job.ttl", 0, duration, (ttlMs) => ({ ttlMs })],
    ["job.maxWait", 0, duration, (maxWaitMs) => ({ maxWaitMs })],
    ["job.deadline", 0, time, (deadline) => ({ deadline })],
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
  for (const field of ["weight", "cost", "attempts", "leaseMs", "delayMs", "ttlMs", "maxWaitMs"]) {
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

test("refuses delayMs with runAt, and ttlMs with deadline", () => {
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
  assert.equal(parseJob({ payload, dedupe: { key: "k" } }).dedupe?.mode, "pending");
  for (const mode of ["never", 1]) {
    assert.equal(dedupe({ key: "k", mode }), "job.dedupe.mode");
  }
  assert.equal(dedupe({ key: "k", mode: "window" }), "job.dedupe.window");
  assert.equal(dedupe({ key: "k", mode: "pending", windowMs: 5 }), "job.dedupe.window");
  assert.equal(dedupe({ key: "k", mode: "debounce" }, { delayMs: 5 }), "");
  assert.equal(dedupe({ key: "k", mode: "pending", ttl: 5 }), "job.dedupe.ttl");
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

test("a backoff changes some of its queue's", () => {
  assert.equal(refused({ backoff: { minMs: 5, factor: 3, jitter: 1 } }), "");
  assert.equal(refused({ backoff: { minMs: -1 } }), "job.backoff.min");
  assert.equal(refused({ backoff: { delay: 5 } }), "job.backoff.delay");
  assert.equal(refused({ backoff: 5 }), "job.backoff");
});

test("any input is valid or refused with INVALID", () => {
  const field = fc.constantFrom(
    ...["fairnessKey", "weight", "priority", "gates", "cost", "delayMs", "runAt", "ttlMs"],
    ...["deadline", "maxWaitMs", "dedupe", "group", "attempts", "backoff", "leaseMs", "headers"],
  );
  fc.assert(
    fc.property(fc.dictionary(field, fc.anything()), (spec) => {
      refused(spec);
    }),
    { numRuns: 5000 },
  );
});
