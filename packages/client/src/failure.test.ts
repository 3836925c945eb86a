import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import {
  endError,
  failureOf,
  JobFailed,
  RetryAfter,
  textOf,
  Unrecoverable,
  willRetry,
} from "./errors.ts";
import { DURATION_MS_MAX, ERROR_TEXT_MAX, REASON_TEXT_MAX } from "./limits.ts";

test("an error travels as its name, message and stack", () => {
  const { error, stack, ...rest } = failureOf(new TypeError("x is not a function"));
  assert.equal(error, "TypeError: x is not a function");
  assert.match(stack!, /^TypeError: x is not a function\n +at .*failure\.test\.ts/);
  assert.deepEqual(rest, {});
  assert.deepEqual(failureOf("a string"), { error: "a string" });
  assert.equal(failureOf(new SluiceError("QUEUE_FULL", "full")).error, "QUEUE_FULL: full");
  assert.deepEqual(failureOf(undefined), {});
});

test("an error text is limited in length, and a thrown value without text gets one", () => {
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

test("RetryAfter refuses what it would misread, and a gate that cannot be", () => {
  const digits = "120" as "120s";
  assert.throws(() => new RetryAfter(digits), { code: "INVALID", message: /fromHeader.*"120"/ });
  for (const gate of ["", "two words", "x".repeat(256), 5 as unknown as string]) {
    assert.throws(
      () => new RetryAfter("1s", { gate }),
      (error) => error instanceof SluiceError && error.details.field === "RetryAfter.gate",
    );
  }
  const typo = { gates: "smtp" } as object;
  assert.throws(() => new RetryAfter("1s", typo), { code: "INVALID", message: /RetryAfter.gates/ });
});

test("RetryAfter reads the header of HTTP in all of its forms", () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 7);
  const read = (value: string | null | undefined): number =>
    RetryAfter.fromHeader(value, { now, fallback: "7s" }).delay;
  assert.equal(read("120"), 120_000);
  assert.equal(read(" 0 "), 0);
  assert.equal(read("Sun, 06 Nov 1994 08:49:37 GMT"), 30_000);
  assert.equal(read("Sunday, 06-Nov-94 08:49:37 GMT"), 30_000);
  assert.equal(read("Sun Nov  6 08:49:37 1994"), 30_000);
  assert.equal(read("Sat, 05 Nov 1994 08:49:37 GMT"), 0, "it has passed");
  assert.equal(read("9".repeat(400)), DURATION_MS_MAX, "the longest that there is");
  for (const nothing of [null, undefined, "", "soon", "1.5", "-5", "Sun"]) {
    assert.equal(read(nothing), 7_000, String(nothing));
  }
  const { delay, gate, reason } = RetryAfter.fromHeader(null, { gate: "smtp", reason: "429" });
  assert.deepEqual([delay, gate, reason], [30_000, "smtp", "429"]);
});

test("a long reason loses its end", () => {
  const failure = failureOf(new RetryAfter("1s", { gate: "smtp", reason: "x".repeat(5_000) }));
  assert.equal(failure.cooldown?.reason?.length, REASON_TEXT_MAX);
  assert.equal(failure.error?.length, ERROR_TEXT_MAX);
});

test("Unrecoverable is not retried", () => {
  const { error, unrecoverable } = failureOf(new Unrecoverable("no such user"));
  assert.deepEqual(
    { error, unrecoverable },
    { error: "Unrecoverable: no such user", unrecoverable: true },
  );
});

test("whether a job runs again depends on its attempts, unless the failure says so", () => {
  assert.equal(willRetry({}, 0, 2), true);
  assert.equal(willRetry({}, 1, 2), false);
  assert.equal(willRetry({ unrecoverable: true }, 0, 2), false);
  assert.equal(willRetry({ cooldown: { gate: "g", ms: 1 } }, 1, 2), true);
});

test("a job that ended badly says how", () => {
  const end = { id: "j1", queue: "mail", at: 5, error: "Error: no" } as const;
  const dead = endError({ ...end, state: "dead" });
  assert.ok(dead instanceof JobFailed);
  assert.equal(dead.state, "dead");
  assert.equal(dead.reason, "Error: no");
  assert.match(dead.message, /job j1 of queue mail failed .* dead letter queue: Error: no/);
  const waited = { gate: "smtp", wait: 9, maxWait: 5 };
  const late = endError({ ...end, state: "failed", waited });
  assert.ok(late instanceof SluiceError && late.code === "WAIT_TOO_LONG");
  assert.equal(late.details.gate, "smtp");
});

test("Unrecoverable may say which gates are to blame, or that none is", () => {
  assert.equal(failureOf(new Unrecoverable("our own mistake", { blame: false })).blame, false);
  assert.equal("blame" in failureOf(new Unrecoverable("our own mistake")), false);
});
