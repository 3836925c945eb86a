import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppValue } from "@sluice/protocol";
import { arranged, safeHref, textOf } from "./app-value.ts";

const ROWS: AppValue[][] = [
  ["b 10", { bytes: 2_048 }, 3],
  ["b 9", { bytes: 100 }, ""],
  ["Alpha", { bytes: 5_000_000 }, 12],
];

test("rows are sorted by the size of figures and by the text of words", () => {
  const by = (column: number, isDown = false) => arranged(ROWS, "", { column, isDown });
  assert.deepEqual(by(0), [2, 1, 0]);
  assert.deepEqual(by(1), [1, 0, 2]);
  assert.deepEqual(by(1, true), [2, 0, 1]);
  // What has no figure is last in both directions.
  assert.deepEqual(
    [by(2), by(2, true)],
    [
      [0, 2, 1],
      [2, 0, 1],
    ],
  );
});

test("a filter keeps the rows that have all of its words", () => {
  assert.deepEqual(arranged(ROWS, " B  kb", undefined), [0]);
  assert.deepEqual(arranged(ROWS, "alp", undefined), [2]);
  assert.deepEqual(arranged(ROWS, "", undefined), [0, 1, 2]);
});

test("each kind of value has a text", () => {
  const link = { href: "download/a?token=b", text: "Get it" };
  const values: AppValue[] = ["a", 1_200, 1.5, { used: 3, limit: 10 }, link];
  assert.deepEqual(values.map(textOf), ["a", "1\u202f200", "1.5", "3 of 10 used", "Get it"]);
});

test("a link leads below the page, to http or to a magnet, and nowhere else", () => {
  for (const good of ["download/a?token=b_c-d", "https://a.example/x", "magnet:?xt=urn:btih:a"]) {
    assert.equal(safeHref(good), good);
  }
  const bad = ["javascript:alert(1)", "//evil.example", "/x", "../x", "a/../x", "data:text/html,x"];
  for (const href of bad) assert.equal(safeHref(href), undefined, href);
});
