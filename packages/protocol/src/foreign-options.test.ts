import assert from "node:assert/strict";
import { test } from "node:test";
import { insteadOf } from "./foreign-options.ts";
import { unknownField } from "./kinds.ts";
import { readJob } from "./options/job-options.ts";
import { parseQueue } from "./options/queue-options.ts";

const refused: readonly [string, () => unknown, RegExp][] = [
  ["jobId on a job", () => job({ jobId: "x" }), /^job\.jobId .*: use dedupe: \{ key \}/],
  ["repeat on a job", () => job({ repeat: { every: 1 } }), /: use sluice\.schedule\(name/],
  ["removeOnComplete", () => job({ removeOnComplete: true }), /: use results: \{ jobs, ttl \}/],
  ["backoff.delay", () => job({ backoff: { delay: 1 } }), /^job\.backoff\.delay .*: use min/],
  ["attempts on a queue", () => queue({ attempts: 3 }), /: use retry: \{ attempts \}/],
  ["delay on a queue", () => queue({ delay: 3 }), /: give it to add/],
  ["delay of a retry", () => queue({ retry: { delay: 3 } }), /^queue\.retry\.delay .*: use min/],
  ["limiter on a queue", () => queue({ limiter: {} }), /: use sluice\.gate\(key\)/],
  ["debounce on a job", () => job({ debounce: { id: "x" } }), /: use dedupe: \{ key \}/],
  ["retry on a job", () => job({ retry: { attempts: 3 } }), /: use attempts and backoff/],
  ["type of a retry", () => queue({ retry: { type: "fixed" } }), /: delays grow by factor/],
];

for (const [name, refuse, message] of refused) {
  test(`an option of BullMQ is refused with Sluice's own: ${name}`, () => {
    assert.throws(refuse, { code: "INVALID", message });
  });
}

test("the known options follow the advice", () => {
  const { message } = unknownField("job.jobId", ["delay", "dedupe"], "x");
  assert.match(message, /on the job; known are delay, dedupe$/);
});

test("a misspelt option is refused with the nearest known one", () => {
  const known = ["fairnessKey", "gates", "cost", "weight"];
  const { message } = unknownField("job.gate", known, "x");
  const list = "known are fairnessKey, gates, cost, weight";
  assert.equal(message, `job.gate is not a known field (did you mean gates?); ${list}`);
  assert.match(unknownField("job.fairnesskey", known, 1).message, /mean fairnessKey\?/);
  assert.match(unknownField("job.weigth", known, 1).message, /mean weight\?/);
  assert.doesNotMatch(unknownField("job.list", known, 1).message, /mean/);
});

test("a field that no other queue has gets no advice", () => {
  assert.equal(insteadOf("job.dely"), undefined);
  assert.equal(insteadOf("job.constructor"), undefined);
});

test("where an option was given decides before its name", () => {
  assert.notEqual(insteadOf("schedule.delay"), insteadOf("queue.delay"));
});

function job(options: object): unknown {
  return readJob({}, options);
}

function queue(options: object): unknown {
  return parseQueue("mail", options);
}
