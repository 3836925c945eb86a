import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterNameOf, nodeNameOf } from "./node-names.ts";

test("a node is named after its machine and its port, unless it is given a name", () => {
  assert.match(nodeNameOf(undefined, 7070), /-7070$/);
  assert.match(nodeNameOf(undefined, 8080), /-8080$/);
  assert.equal(nodeNameOf("a.b", 0), "a.b");
  assert.throws(() => nodeNameOf("a b", 7070), { code: "INVALID" });
});

test("nodes on any port that is free are not called the same", () => {
  const names = new Set(Array.from({ length: 10 }, () => nodeNameOf(undefined, 0)));
  assert.equal(names.size, 10);
});

test("a cluster is named sluice, unless it is given a name that streams can have", () => {
  assert.equal(clusterNameOf(), "sluice");
  assert.equal(clusterNameOf("jobs-eu"), "jobs-eu");
  for (const name of ["a b", "a.b", "KV_a", "x".repeat(101)]) {
    assert.throws(() => clusterNameOf(name), { code: "INVALID" }, name);
  }
});
