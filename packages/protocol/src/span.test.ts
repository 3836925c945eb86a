import assert from "node:assert/strict";
import { test } from "node:test";
import { span } from "./span.ts";

test("a span is written in the largest unit of which it has at least two", () => {
  const told: [number, string][] = [
    [0, "0 ms"],
    [1_999, "1999 ms"],
    [2_000, "2 s"],
    [119_999, "120 s"],
    [120_000, "2 min"],
    [7_199_999, "120 min"],
    [7_200_000, "2 h"],
    [172_800_000, "2 d"],
  ];
  for (const [ms, text] of told) assert.equal(span(ms), text);
});
