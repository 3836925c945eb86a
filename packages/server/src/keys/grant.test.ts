import assert from "node:assert/strict";
import { test } from "node:test";
import { isPattern } from "@sluice/protocol";
import { type Action, allows, allowsAll, allowsAny, covers, type Grant } from "./grant.ts";

const grants = (...texts: string[]): Grant[] =>
  texts.map((text) => {
    const [action, on, ...gates] = text.split(" ");
    const grant = { action: action as Action, on: on! };
    return gates.length === 0 ? grant : { ...grant, gates };
  });

test("a grant is on one name, on all that begin alike, or on all", () => {
  assert.ok(allows(grants("produce orders"), "produce", "orders"));
  assert.ok(!allows(grants("produce orders"), "produce", "orders.eu"));
  assert.ok(allows(grants("produce orders.*"), "produce", "orders.eu"));
  assert.ok(!allows(grants("produce orders.*"), "produce", "orders"));
  assert.ok(!allows(grants("produce orders.*"), "produce", "payments"));
  assert.ok(allows(grants("consume *"), "consume", "payments"));
});

test("an admin may produce and consume, and the others only what they say", () => {
  assert.ok(allows(grants("admin q"), "produce", "q") && allows(grants("admin q"), "consume", "q"));
  assert.ok(!allows(grants("produce q"), "consume", "q"));
  assert.ok(!allows(grants("consume q", "produce q"), "admin", "q"));
  assert.ok(allowsAny(grants("consume q*"), "q1") && !allowsAny(grants("consume q*"), "p"));
  assert.ok(allowsAll(grants("admin *"), "consume") && !allowsAll(grants("admin a*"), "admin"));
});

test("a grant does not cover more than it allows", () => {
  const cases: [string, string, boolean][] = [
    ["admin *", "admin *", true],
    ["admin *", "produce orders.*", true],
    ["admin orders.*", "consume orders.eu", true],
    ["admin orders.*", "admin orders.eu.*", true],
    ["admin orders.*", "admin orders*", false],
    ["admin orders.*", "admin *", false],
    ["admin orders.*", "produce orders", false],
    ["produce orders.*", "admin orders.eu", false],
    ["produce orders", "produce orders", true],
    ["produce orders", "produce orders*", false],
    ["consume *", "produce q", false],
    ["admin *", "produce q smtp", true],
    ["admin orders.*", "produce orders.eu smtp", false],
    ["admin orders.* smtp:*", "produce orders.eu smtp:a", true],
    ["admin orders.* smtp:*", "produce orders.eu smtp*", false],
    ["admin orders.* smtp:*", "produce orders.eu", false],
    ["admin * smtp", "admin *", false],
    ["admin * smtp", "consume q smtp", true],
  ];
  for (const [held, wanted, isCovered] of cases) {
    assert.equal(covers(grants(held), grants(wanted)[0]!), isCovered, `${held} covers ${wanted}`);
  }
});

test("a pattern is a name, a name with a star behind it, or a star", () => {
  for (const on of ["*", "a", "a.*", "a*"]) assert.ok(isPattern(on), on);
  for (const on of ["", "a*b", "**", "a b", "ä"]) assert.ok(!isPattern(on), on);
});
