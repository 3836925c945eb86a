import assert from "node:assert/strict";
import { test } from "node:test";
import type { SluiceError } from "@sluice/protocol";
import { type Carried, fromBytes, startOf, toBytes } from "./payload.ts";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

test("a JSON value comes back as it went in", () => {
  for (const value of [null, 0, "", "ü", false, [1, { a: null }], { __proto__x: 1 }]) {
    const bytes = toBytes("payload", { payload: value })!;
    assert.deepEqual(fromBytes("payload", bytes), { payload: value });
  }
});

test("bytes that are no JSON travel as base64, and come back so", () => {
  const base64 = Buffer.from([0, 255, 128, 7]).toString("base64");
  const bytes = toBytes("result", { resultBase64: base64 })!;
  assert.deepEqual([...bytes], [0, 255, 128, 7]);
  assert.deepEqual(fromBytes("result", bytes), { resultBase64: base64 });
});

test("base64 may be as long as a body", () => {
  const bytes = Buffer.alloc(12 * 1024 * 1024, 200);
  const found = toBytes("payload", { payloadBase64: bytes.toString("base64") })!;
  assert.equal(found.length, bytes.length);
});

test("a look at how bytes begin is text where they are text", () => {
  const text = Buffer.from("é".repeat(9));
  assert.deepEqual(startOf("payload", text, 5), { payloadStart: "éé" }, "no half characters");
  const binary = Buffer.from([255, 0, 1, 2]);
  assert.deepEqual(startOf("result", binary, 3), { resultStartBase64: "/wAB" });
});

test("returns bytes when bytes are asked for, whether JSON or not", () => {
  const bytes = toBytes("payload", { payload: { a: 1 } })!;
  const shown = fromBytes("payload", bytes, "base64").payloadBase64 as string;
  assert.equal(Buffer.from(shown, "base64").toString(), '{"a":1}');
});

test("nothing is nothing, and a mistake names its field", () => {
  assert.equal(toBytes("payload", {}), undefined);
  const refused: [Carried, string][] = [
    [{ payload: 1, payloadBase64: "" }, "payload"],
    [{ payloadBase64: "a" }, "payloadBase64"],
    [{ payloadBase64: "a===" }, "payloadBase64"],
    [{ payloadBase64: "aa=a" }, "payloadBase64"],
    [{ payloadBase64: "aa-_" }, "payloadBase64"],
    [{ payloadBase64: 7 }, "payloadBase64"],
    [{ payload: nested(502) }, "payload"],
  ];
  for (const [body, field] of refused) {
    assert.throws(
      () => toBytes("payload", body),
      (error) => (error as SluiceError).details.field === field,
    );
  }
  assert.ok(toBytes("payload", { payload: nested(500) }));
});

test("JSON too deep to be written again is shown as bytes", () => {
  const bytes = Buffer.from("[".repeat(100_000) + "]".repeat(100_000));
  assert.ok("payloadBase64" in fromBytes("payload", bytes));
});
