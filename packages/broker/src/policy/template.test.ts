import assert from "node:assert/strict";
import { test } from "node:test";
import { asKey, asName } from "./names.ts";
import { Template } from "./template.ts";

function render(template: string, headers: Record<string, string> = {}): string | undefined {
  return Template.parse("field", template).render(headers, "mail");
}

test("places are filled, and the text between them stays", () => {
  assert.equal(render("a-{headers.x}-{headers.y|z}-{queue}!", { x: "1" }), "a-1-z-mail!");
  assert.equal(render("plain"), "plain");
  assert.equal(render("{headers.a b.c}", { "a b.c": "1" }), "1");
});

test("a header that is missing or empty leaves no value, unless the template has one", () => {
  assert.equal(render("{headers.x}"), undefined);
  assert.equal(render("p:{headers.x}", { x: "" }), undefined);
  assert.equal(render("p:{headers.x|none}", { x: "" }), "p:none");
});

test("properties that every object has are not headers", () => {
  assert.equal(render("{headers.constructor}"), undefined);
  assert.equal(render("{headers.__proto__}"), undefined);
});

test("refuses an invalid template and names its field", () => {
  for (const bad of [
    "",
    "{",
    "}",
    "{}",
    "{x}",
    "{headers}",
    "{headers.}",
    "{headers.a",
    "{{queue}}",
  ])
    assert.throws(() => Template.parse("queue.policy.x", bad), {
      code: "INVALID",
      details: { field: "queue.policy.x", value: bad },
    });
  assert.ok(Template.parse("x", "x".repeat(1024)));
  assert.throws(() => Template.parse("x", "x".repeat(1025)), { code: "INVALID" });
});

test("texts become names and keys within their limits", () => {
  assert.equal(asName("a/b c:é"), "a_b_c:_");
  assert.equal(asName("x".repeat(255)).length, 255);
  assert.equal(asName("x".repeat(256)).length, 255);
  assert.equal(asKey("é".repeat(512)), "é".repeat(512));
  assert.equal(asKey("é".repeat(513)), "é".repeat(512));
  assert.equal(asKey(`x${"é".repeat(512)}`), `x${"é".repeat(511)}`);
  assert.equal(Buffer.byteLength(asKey("𝕏".repeat(400))), 1024);
});
