import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { JSON_DEPTH_MAX } from "./limits.ts";
import { checkJson, decodeJson, decodeLeniently, encodeJson } from "./payload.ts";

const roundTrip = (value: unknown): unknown =>
  decodeJson("payload", encodeJson("payload", value), "SCHEMA");

function refused(value: unknown): string {
  try {
    encodeJson("payload", value);
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    assert.ok(error.message.startsWith(String(error.details.field)), error.message);
    assert.equal(JSON.stringify(error).includes("INVALID"), true);
    return `${error.details.field}: ${error.details.value}`;
  }
  return "";
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
}

test("what JSON can say comes back as it went in", () => {
  const values = [null, true, 0, -1.5, "", "ä€😀", [], {}, [1, [2, { a: null }]], { "": "x" }];
  for (const value of values) assert.deepEqual(roundTrip(value), value);
});

test("values side by side in one buffer do not touch each other", () => {
  const texts = Array.from({ length: 2_000 }, (_, i) => `${i}:${"€".repeat(i % 300)}`);
  const encoded = texts.map((text) => encodeJson("payload", text));
  const decoded = encoded.map((bytes) => decodeJson("payload", bytes, "SCHEMA"));
  assert.deepEqual(decoded, texts);
});

test("a long text comes back too", () => {
  const text = "ü".repeat(300_000);
  assert.equal(roundTrip(text), text);
});

test("an optional field that is undefined is left out", () => {
  assert.deepEqual(roundTrip({ a: 1, b: undefined }), { a: 1 });
});

test("an object may say how it is written, as a date does", () => {
  assert.equal(roundTrip(new Date(0)), "1970-01-01T00:00:00.000Z");
  assert.deepEqual(roundTrip({ at: { toJSON: () => ({ x: 1 }) } }), { at: { x: 1 } });
});

test("what would not come back is refused by the name of its field", () => {
  assert.equal(refused(undefined), "payload: undefined");
  assert.equal(
    refused(() => 1),
    "payload: a function",
  );
  assert.equal(refused(1n), "payload: 1n");
  assert.equal(refused(Symbol("s")), "payload: s");
  assert.equal(refused(Number.NaN), "payload: NaN");
  assert.equal(refused({ a: { b: [1, 2n] } }), "payload.a.b[1]: 2n");
  assert.equal(refused({ a: { run: () => 1 } }), "payload.a.run: a function");
  assert.equal(refused([undefined]), "payload[0]: undefined");
  assert.equal(refused({ n: Infinity }), "payload.n: Infinity");
  assert.equal(refused({ seen: new Set() }), "payload.seen: a Set");
  assert.equal(refused({ seen: new Map() }), "payload.seen: a Map");
  assert.equal(refused({ later: Promise.resolve() }), "payload.later: a Promise");
  assert.equal(refused({ error: new TypeError("x") }), "payload.error: a TypeError");
  assert.equal(refused({ at: new Date(Number.NaN) }), "payload.at: an invalid Date");
  assert.equal(refused({ toJSON: () => 1n }), "payload: 1n");
});

test("bytes are refused with the way to store them", () => {
  assert.match(
    refused({ file: new Uint8Array(3) }),
    /^payload\.file: a Uint8Array .*codec: "bytes"/,
  );
  assert.match(refused(Buffer.from("x")), /codec: "bytes"/);
});

test("a cycle is named and not followed", () => {
  const cycle: Record<string, unknown> = { a: { b: {} } };
  (cycle.a as Record<string, unknown>).b = cycle;
  assert.equal(refused(cycle), "payload.a.b: an object that contains itself");
  const list: unknown[] = [];
  list.push(list);
  assert.equal(refused(list), "payload[0]: an object that contains itself");
});

test("the same object twice is no cycle", () => {
  const shared = { x: 1 };
  assert.deepEqual(roundTrip({ a: shared, b: [shared, shared] }), {
    a: shared,
    b: [shared, shared],
  });
});

test("the deepest value passes and one level more does not", () => {
  assert.equal(refused(nested(JSON_DEPTH_MAX)), "");
  assert.match(refused(nested(JSON_DEPTH_MAX + 1)), /nested deeper than/);
});

test("bytes that are not JSON are refused with the code of the caller", () => {
  const bad = new Uint8Array([0xff, 0xfe]);
  assert.throws(() => decodeJson("payload", bad, "SCHEMA"), { code: "SCHEMA" });
  assert.throws(() => decodeJson("payload", new TextEncoder().encode("{"), "SCHEMA"), {
    code: "SCHEMA",
    message: /^payload is not JSON/,
  });
  assert.equal(decodeLeniently(bad), bad);
  assert.deepEqual(decodeLeniently(new TextEncoder().encode("[1]")), [1]);
});

test("a value that is passed on unchanged gets the same check", () => {
  checkJson("progress", { done: 3 });
  assert.throws(() => checkJson("progress", { done: 3n }), { message: /^progress\.done must be/ });
});
