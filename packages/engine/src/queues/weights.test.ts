import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, openEngine, type QueueChange } from "../testing/test-engine.ts";
import type { FairnessKey } from "../types.ts";
import { weightOf } from "./weights.ts";

test("a path without a rule weighs 1", () => {
  assert.equal(weightOf({}, ["acme"]), 1);
  assert.equal(weightOf({ other: 5, "zzz*": 7 }, ["acme"]), 1);
});

test("a rule of the very key wins over every prefix", () => {
  assert.equal(weightOf({ "acme*": 9, acme: 2, "*": 3 }, ["acme"]), 2);
});

test("of several prefixes the longest wins, whatever their order", () => {
  assert.equal(weightOf({ "*": 2, "ac*": 3, "acme*": 4, "a*": 5 }, ["acme-7"]), 4);
  assert.equal(weightOf({ "acme*": 4, "*": 2 }, ["acme-7"]), 4);
  assert.equal(weightOf({ "*": 2 }, ["anything"]), 2);
});

test("the levels of a path are joined with a slash", () => {
  const rules = { "acme/user-7": 3, "acme/*": 2, acme: 5 };
  assert.equal(weightOf(rules, ["acme", "user-7"]), 3);
  assert.equal(weightOf(rules, ["acme", "user-8"]), 2);
  assert.equal(weightOf(rules, ["acme"]), 5);
});

test("a slash inside a key does not make it a path", () => {
  const rules = { "a/b": 3, "a\\/c": 4, "x\\\\": 5, "d\\/*": 6 };
  assert.equal(weightOf(rules, ["a", "b"]), 3);
  assert.equal(weightOf(rules, ["a/b"]), 1);
  assert.equal(weightOf(rules, ["a/c"]), 4);
  assert.equal(weightOf(rules, ["a", "c"]), 1);
  assert.equal(weightOf(rules, ["x\\"]), 5);
  assert.equal(weightOf(rules, ["d/e"]), 6);
  assert.equal(weightOf(rules, ["d", "e"]), 1);
});

test("a weight set by hand for a key with a slash is not that of the path", () => {
  const engine = openEngine();
  engine.setLaneWeight("q", "a/b", 5, 0);
  for (const key of ["a/b", ["a", "b"]]) engine.add("q", { fairnessKey: key }, 0);
  assert.deepEqual([engine.queries.job(1)?.weight, engine.queries.job(2)?.weight], [5, 1]);
  engine.setLaneWeight("q", ["a", "b"], 2, 0);
  assert.deepEqual([engine.queries.job(1)?.weight, engine.queries.job(2)?.weight], [5, 2]);
});

test("names of the language's own are keys like others", () => {
  assert.equal(weightOf({}, ["constructor"]), 1);
  assert.equal(weightOf({}, ["toString"]), 1);
});

/** Which lanes are served first, of lanes with enough jobs each. */
function order(options: QueueChange, keys: FairnessKey[], count: number): string[] {
  const engine = openEngine(options);
  for (const key of keys) {
    for (let i = 0; i < count; i++) engine.add("q", { fairnessKey: key, body: key }, 0);
  }
  return engine.lease("q", count, 0).map((lease) => String(lease.body));
}

test("lanes share by the queue's rules, by key and by prefix", () => {
  const served = order({ weights: { big: 4, "mid-*": 2 } }, ["big", "mid-1", "small"], 70);
  assert.deepEqual(
    ["big", "mid-1", "small"].map((key) => countOf(served, key)),
    [40, 20, 10],
  );
});

test("levels of a path share by the rule of the level, their children by the path's", () => {
  const options = { weights: { acme: 3, "acme/fast": 2 } };
  const keys = [["acme", "fast"], ["acme", "slow"], "other"];
  const served = order(options, keys, 40);
  assert.equal(countOf(served, "other"), 10);
  assert.equal(countOf(served, "acme,fast"), 20);
  assert.equal(countOf(served, "acme,slow"), 10);
});
