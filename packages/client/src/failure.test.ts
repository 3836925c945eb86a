import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { endingError, JobFailed, RetryAfter, textOf, Unrecoverable } from "./errors.ts";
import { failureOf, willRetry } from "./failure.ts";
import { ERROR_TEXT_MAX } from "./limits.ts";

test("an error travels as its name and message", () => {
  assert.deepEqual(failureOf(new TypeError("x is not a function")), {
    error: "TypeError: x is not a function",
  });
  assert.deepEqual(failureOf("a string"), { error: "a string" });
  assert.deepEqual(failureOf(new SluiceError("QUEUE_FULL", "full")), { error: "QUEUE_FULL: full" });
  assert.deepEqual(failureOf(undefined), {});
});

test("a text has an end, and even what has none is told", () => {
  assert.equal(textOf(new Error("x".repeat(10_000))).length, ERROR_TEXT_MAX);
  assert.equal(textOf(Object.create(null)), "something that has no text was thrown");
});

test("RetryAfter with a gate cools the gate down", () => {
  assert.deepEqual(failureOf(new RetryAfter("30s", { gate: "smtp", reason: "429" })), {
    error: "429",
    cooldown: { gate: "smtp", ms: 30_000, reason: "429" },
  });
  assert.deepEqual(failureOf(new RetryAfter(500, { gate: "smtp" })), {
    error: "retry after 500 ms",
    cooldown: { gate: "smtp", ms: 500 },
  });
});

test("RetryAfter without a gate delays the job alone", () => {
  assert.deepEqual(failureOf(new RetryAfter("1m")), {
    error: "retry after 60000 ms",
    delayMs: 60_000,
  });
  assert.throws(() => new RetryAfter("soon" as "1s"), { code: "INVALID" });
});

test("Unrecoverable is not retried", () => {
  assert.deepEqual(failureOf(new Unrecoverable("no such user")), {
    error: "Unrecoverable: no such user",
    unrecoverable: true,
  });
});

test("whether a job runs again depends on its attempts, unless the failure says so", () => {
  assert.equal(willRetry({}, 0, 2), true);
  assert.equal(willRetry({}, 1, 2), false);
  assert.equal(willRetry({ unrecoverable: true }, 0, 2), false);
  assert.equal(willRetry({ cooldown: { gate: "g", ms: 1 } }, 1, 2), true);
});

test("a job that ended badly says how", () => {
  const end = { id: "j1", queue: "mail", at: 5, error: "Error: no" } as const;
  const dead = endingError({ ...end, ending: "dead" });
  assert.ok(dead instanceof JobFailed);
  assert.equal(dead.ending, "dead");
  assert.equal(dead.reason, "Error: no");
  assert.match(dead.message, /job j1 of queue mail failed .* dead letter queue: Error: no/);
  const waited = { gate: "smtp", waitMs: 9, maxWaitMs: 5 };
  const late = endingError({ ...end, ending: "wait-too-long", waited });
  assert.ok(late instanceof SluiceError && late.code === "WAIT_TOO_LONG");
  assert.equal(late.details.gate, "smtp");
});

test("Unrecoverable may say which gates are to blame, or that none is", () => {
  const error = "Unrecoverable: our own mistake";
  assert.deepEqual(failureOf(new Unrecoverable("our own mistake", { blame: false })), {
    error,
    unrecoverable: true,
    blame: false,
  });
  assert.deepEqual(failureOf(new Unrecoverable("our own mistake")), { error, unrecoverable: true });
});
