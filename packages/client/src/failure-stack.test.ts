import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf, RetryAfter, Unrecoverable } from "./errors.ts";
import { STACK_TEXT_MAX } from "./limits.ts";

test("a failure tells where its error was thrown, a request to wait does not", () => {
  for (const error of [new TypeError("no"), new Unrecoverable("no")]) {
    assert.equal(failureOf(error).stack, error.stack);
  }
  assert.equal(failureOf(new RetryAfter("1s")).stack, undefined);
});

test("a failure that is no Error has no stack, and a long stack is cut", () => {
  assert.equal(failureOf("no").stack, undefined);
  assert.equal(failureOf(undefined).stack, undefined);
  const error = new Error("no");
  error.stack = "x".repeat(STACK_TEXT_MAX + 1);
  assert.ok(failureOf(error).stack!.length <= STACK_TEXT_MAX);
});
