import assert from "node:assert/strict";
import { test } from "node:test";
import { roleGrants, type Session, type SessionGrant } from "@sluice/protocol";
import { may, mayAll, mayCool } from "./may.ts";

function session(grants: readonly SessionGrant[], isReadOnly = false): Session {
  return { hasKeys: true, hasBroker: true, grants, isReadOnly };
}

test("a key is offered what its grants allow", () => {
  const key = session([
    { action: "consume", on: "orders.*" },
    { action: "admin", on: "mail" },
  ]);
  assert.ok(may(key, "consume", "orders.a") && may(key, "produce", "mail"));
  assert.ok(!may(key, "produce", "orders.a") && !may(key, "consume", "secret"));
  assert.ok(may(key, "admin"), "on some queue");
  assert.ok(!mayAll(key, "admin"));
  assert.ok(mayAll(session([{ action: "admin", on: "*" }]), "produce"));
});

test("a page that may only look changes nothing, whatever its grants", () => {
  const key = session([{ action: "admin", on: "*" }], true);
  assert.ok(may(key, "consume", "mail"));
  assert.ok(!may(key, "admin", "mail") && !mayAll(key, "admin") && !mayCool(key, "smtp"));
});

test("a gate is cooled down by keys that have it, and by those that run everything", () => {
  assert.ok(mayCool(session([{ action: "consume", on: "q", gates: ["smtp:*"] }]), "smtp:a"));
  assert.ok(!mayCool(session([{ action: "consume", on: "q", gates: ["smtp:*"] }]), "http"));
  assert.ok(!mayCool(session([{ action: "admin", on: "q" }]), "smtp"));
  assert.ok(mayCool(session([{ action: "admin", on: "*" }]), "smtp"));
});

test("each role is offered what it may do", () => {
  const viewer = session(roleGrants("viewer"));
  assert.ok(may(viewer, "view", "mail") && mayAll(viewer, "view"));
  assert.ok(!may(viewer, "produce") && !may(viewer, "operate") && !mayCool(viewer, "smtp"));
  const operator = session(roleGrants("operator"));
  assert.ok(mayAll(operator, "operate") && may(operator, "produce", "mail"));
  assert.ok(!may(operator, "admin") && !may(operator, "consume") && mayCool(operator, "smtp"));
  const some = session(roleGrants("operator", "orders.*"));
  assert.ok(may(some, "operate", "orders.a") && !may(some, "operate", "mail"));
  assert.ok(!mayCool(some, "smtp"));
});
