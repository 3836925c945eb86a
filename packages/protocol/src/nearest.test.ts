import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

const KNOWN = ["queue", "jobs", "top", "a"];

test("a word with a slip finds the word that was meant", () => {
  assert.equal(nearest("queu", KNOWN), "queue");
  assert.equal(nearest("gauge", KNOWN), undefined);
  assert.equal(nearest("jbos", KNOWN), "jobs");
  assert.equal(nearest("QUEUE", KNOWN), "queue");
});

test("a word of which nothing is left is not suggested", () => {
  assert.equal(nearest("zz", KNOWN), undefined);
  assert.equal(nearest("anything", []), undefined);
});
