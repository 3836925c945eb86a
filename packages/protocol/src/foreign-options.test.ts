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
