import assert from "node:assert/strict";
import { test } from "node:test";
import { words } from "./words.ts";

const lines = (text: string, path = "docs/a.md"): number[] =>
  words([{ path, text }]).map((finding) => finding.line);

test("notes to oneself are found", () => {
  assert.deepEqual(lines("fine\n// TODO later\nFIXME\nXXX"), [2, 3, 4]);
});

test("the paths of one machine are found", () => {
  const text = '"/work/main"\n/root/x\nsee /home/somebody/x\n/Users/me/x\nin /work';
  assert.deepEqual(lines(text), [1, 2, 3, 4, 5]);
});

test("words and paths that only look alike pass", () => {
  assert.deepEqual(
    lines("a todo list, mastodon\n./work/x\nhttps://a.b/work/x\n/workers/1\n/home"),
    [],
  );
});

test("the rules may spell what they forbid", () => {
  assert.deepEqual(lines("TODO", "tests/tidy/rules/words.ts"), []);
});
