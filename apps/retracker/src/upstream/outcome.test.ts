import assert from "node:assert/strict";
import { test } from "node:test";
import { ofError, shorten } from "./outcome.ts";

const withCode = (code: string): Error => Object.assign(new Error("a text"), { code });

for (const [code, kind] of [
  ["ENOTFOUND", "disable"],
  ["ECONNREFUSED", "disable"],
  ["EHOSTUNREACH", "disable"],
  ["ENETUNREACH", "disable"],
  ["CERT_HAS_EXPIRED", "disable"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "disable"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "disable"],
  ["EPROTO", "disable"],
  ["ECONNRESET", "retry"],
  ["EAI_AGAIN", "retry"],
  ["ETIMEDOUT", "retry"],
  ["EPIPE", "retry"],
  ["EANSWER", "failed"],
] as const) {
  test(`${code} means ${kind}`, () => assert.equal(ofError(withCode(code)).kind, kind));
}

test("an error of several addresses is that of the first, and a time-out is temporary", () => {
  const several = new AggregateError([withCode("ECONNREFUSED"), withCode("ECONNRESET")]);
  assert.equal(ofError(several).kind, "disable");
  const late = new DOMException("too late", "TimeoutError");
  assert.deepEqual(ofError(late), { kind: "retry", reason: "ETIMEDOUT" });
});

test("a reason is short and has no control characters", () => {
  assert.equal(shorten("\x1b[31mred\x9b\n"), " [31mred  ");
  assert.equal(shorten("x".repeat(1000)).length, 200);
});
