import assert from "node:assert/strict";
import { test } from "node:test";
import { invalid, Refusal } from "./errors.ts";

test("a refusal is an error with a code and, when there are any, details", () => {
  const bare = new Refusal("LEASE_LOST", "gone");
  assert.ok(bare instanceof Error);
  assert.equal(bare.name, "Refusal");
  assert.equal(bare.code, "LEASE_LOST");
  assert.equal(bare.message, "gone");
  assert.deepEqual(bare.details, {});
  const full = new Refusal("QUEUE_FULL", "full", { retryAfterMs: 5 });
  assert.deepEqual(full.details, { retryAfterMs: 5 });
});

test("an invalid field is named with its value", () => {
  const refusal = invalid("job.cost", "an integer", 1.5);
  assert.equal(refusal.code, "INVALID");
  assert.equal(refusal.message, "job.cost must be an integer, got 1.5");
  assert.deepEqual(refusal.details, { field: "job.cost", value: 1.5 });
});

test("values of every kind are shown in a few characters", () => {
  const shown = (value: unknown): string => invalid("f", "x", value).message.split("got ")[1]!;
  assert.equal(shown("text"), '"text"');
  assert.equal(shown("a".repeat(64)), `"${"a".repeat(64)}"`);
  assert.equal(shown("a".repeat(65)), `"${"a".repeat(61)}..."`);
  assert.equal(shown(undefined), "undefined");
  assert.equal(shown(null), "null");
  assert.equal(shown(Number.NaN), "NaN");
  assert.equal(shown(12n), "12");
  assert.equal(shown(Symbol("s")), "Symbol(s)");
  assert.equal(shown([1, 2]), "an array");
  assert.equal(shown({ secret: 1 }), "an object");
  assert.equal(
    shown(() => 1),
    "a function",
  );
});
