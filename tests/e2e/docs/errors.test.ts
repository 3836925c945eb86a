// The page of errors has every code with what to do, and every message with sample values.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const PAGE = join(import.meta.dirname, "..", "..", "..", "docs", "reference", "errors.md");
const SECTIONS = readFileSync(PAGE, "utf8").split("\n## ").slice(1);

const messagesOf = (section: string): string[] =>
  [...section.matchAll(/^- `{1,2} ?(.+?) ?`{1,2}$/gm)].map(([, message = ""]) => message);

/** Their messages are made where the end of a job is known, and are those of `JobFailed`. */
const MADE_ELSEWHERE = new Set(["WAIT_TOO_LONG"]);

test("each code has a meaning, what to do, and messages", () => {
  assert.ok(SECTIONS.length > 30);
  for (const section of SECTIONS) {
    const [code = ""] = section.split("\n");
    assert.match(section, /^\*\*What to do:\*\* \S/m, code);
    assert.ok(messagesOf(section).length > 0 || MADE_ELSEWHERE.has(code), code);
  }
});

test("every message is one sentence or two with its values, and no place is left empty", () => {
  const messages = SECTIONS.flatMap(messagesOf);
  assert.ok(messages.length > 400, `${messages.length} messages`);
  for (const message of messages) {
    assert.doesNotMatch(message, /[‹›]|\[object|NaN|\$\{/, message);
    assert.doesNotMatch(message, /^\s|\s$| {2}|\.$/, message);
    assert.ok(message.length <= 220, message);
  }
});
