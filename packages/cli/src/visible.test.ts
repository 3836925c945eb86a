import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./run.ts";
import { key, printable } from "./show.ts";
import { visible } from "./visible.ts";

const HOSTILE = [
  "\u001b[2J",
  "\u009b2J",
  "\u0007",
  "\u007f",
  "\u202e",
  "\u2066",
  "\u200f",
  "\u2028",
];

/** Whether a terminal would obey something in this text. */
function isObeyed(text: string): boolean {
  return /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(text.replace(/[\n\t]/g, ""));
}

test("what a terminal would obey is written out, and JSON keeps its value", () => {
  for (const text of HOSTILE) {
    assert.ok(isObeyed(text));
    assert.ok(!isObeyed(visible(text)), JSON.stringify(text));
    assert.ok(!isObeyed(printable(text)), JSON.stringify(text));
    assert.ok(!isObeyed(key(text)), JSON.stringify(text));
    assert.equal(JSON.parse(visible(JSON.stringify(text))), text);
  }
  assert.equal(visible("é\n\t↔ 日本"), "é\n\t↔ 日本");
});

test("no command writes such characters to its output", async () => {
  const lines: string[] = [];
  const progress = { write: (text: string) => lines.push(text) };
  const output = { out: (text: string) => void lines.push(text), progress };
  const around = { env: {}, input: process.stdin, output, stop: new AbortController().signal };
  for (const text of HOSTILE) {
    await run(["help", text], around);
    await run([text], around);
    await run(["queue", "--no-such", text], around);
  }
  for (const line of lines) assert.ok(!isObeyed(line), JSON.stringify(line));
});
