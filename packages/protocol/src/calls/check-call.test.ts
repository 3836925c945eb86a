import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCall } from "./check-call.ts";
import { CALL_NAMES, rowOf } from "./index.ts";

const matches = (error: { code: string; details: { field?: unknown } }, field: string): true => {
  assert.equal(error.code, "INVALID");
  assert.equal(error.details.field, field);
  return true;
};

test("arguments and options of their kinds are passed on as they are", () => {
  assert.deepEqual(checkCall(rowOf("lanes"), ["mail", { limit: 10, sort: "waiting" }]), [
    "mail",
    { limit: 10, sort: "waiting" },
  ]);
  assert.deepEqual(checkCall(rowOf("cooldown"), ["smtp", 500]), ["smtp", 500, undefined]);
  assert.deepEqual(checkCall(rowOf("purge"), ["mail", { operationId: "x" }]), [
    "mail",
    { operationId: "x" },
  ]);
});

test("refuses an argument of another kind and names it", () => {
  assert.throws(
    () => checkCall(rowOf("cancel"), ["a"]),
    (error: never) => matches(error, "ids"),
  );
  assert.throws(
    () => checkCall(rowOf("queue"), [5]),
    (error: never) => matches(error, "queue"),
  );
  assert.throws(
    () => checkCall(rowOf("setGate"), ["g", []]),
    (error: never) => matches(error, "options"),
  );
});

test("an option that the call does not have is refused", () => {
  const wrong = { signal: 5 };
  assert.throws(
    () => checkCall(rowOf("jobs"), ["q", wrong]),
    (error: never) => matches(error, "options.signal"),
  );
  assert.throws(
    () => checkCall(rowOf("lanes"), ["q", { operationId: "x" }]),
    (error: never) => matches(error, "options.operationId"),
  );
  assert.throws(
    () => checkCall(rowOf("gates"), [{ limit: 0 }]),
    (error: never) => matches(error, "limit"),
  );
  assert.throws(
    () => checkCall(rowOf("gates"), [7]),
    (error: never) => matches(error, "options"),
  );
  assert.throws(
    () => checkCall(rowOf("queue"), ["q", {}, 1]),
    (error: never) => matches(error, "arguments"),
  );
});

test("every call says in a sentence what it does", () => {
  for (const name of CALL_NAMES) assert.match(rowOf(name).says, /^[A-Z].*\.$/, name);
});
