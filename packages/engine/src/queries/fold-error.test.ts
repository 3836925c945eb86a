import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf, foldError } from "./fold-error.ts";

test("numbers and ids of an error are folded, words are not", () => {
  assert.equal(foldError("timeout after 500 ms"), "timeout after # ms");
  assert.equal(foldError("no user 7f3c-12ab in order_91"), "no user # in #");
  assert.equal(foldError("connect ECONNREFUSED 10.0.0.1:5432"), "connect ECONNREFUSED #");
  assert.equal(foldError("plain words"), "plain words");
});

test("the code of a response stays", () => {
  assert.equal(foldError("HTTP 503 after 12 tries"), "HTTP 503 after # tries");
  assert.notEqual(failureOf("status 404"), failureOf("status 500"));
});

test("only the first line counts, and of it the beginning", () => {
  assert.equal(foldError("first 1\nsecond 2"), "first #");
  assert.equal(foldError("x".repeat(1000)).length, 400);
});

test("errors that fold alike are one failure, others are not", () => {
  assert.equal(failureOf("timeout after 500 ms"), failureOf("timeout after 1000 ms"));
  assert.notEqual(failureOf("timeout after 5 ms"), failureOf("timeout before 5 ms"));
  assert.notEqual(failureOf("ab"), failureOf("ba"));
  assert.ok(Number.isSafeInteger(failureOf("")) && failureOf("") > 0);
});
