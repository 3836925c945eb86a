import assert from "node:assert/strict";
import { test } from "node:test";
import { RecoveryBar } from "./recovery-bar.ts";

const TOTAL = 1000 * 1024 * 1024;

function terminal(isTTY: boolean): { isTTY: boolean; lines: string[]; write(text: string): void } {
  const lines: string[] = [];
  return { isTTY, lines, write: (text) => void lines.push(text) };
}

test("a terminal sees one line per percent, and none in the end", () => {
  const screen = terminal(true);
  const bar = new RecoveryBar(screen);
  bar.show({ doneBytes: 0, totalBytes: TOTAL });
  bar.show({ doneBytes: TOTAL / 1000, totalBytes: TOTAL });
  bar.show({ doneBytes: TOTAL / 2, totalBytes: TOTAL });
  bar.clear();
  assert.equal(screen.lines.length, 3);
  assert.match(screen.lines[1] ?? "", /^\rrecovering █{12}░{12} 50 % \(500 of 1000 MiB\)$/);
  assert.match(screen.lines[2] ?? "", /^\r/);
});

test("draws nothing if the output is not a terminal", () => {
  const screen = terminal(false);
  const bar = new RecoveryBar(screen);
  bar.show({ doneBytes: 5, totalBytes: TOTAL });
  bar.clear();
  assert.deepEqual(screen.lines, []);
});

test("a short recovery is not worth a bar", () => {
  const screen = terminal(true);
  const bar = new RecoveryBar(screen);
  bar.show({ doneBytes: 5, totalBytes: 1000 });
  bar.clear();
  assert.deepEqual(screen.lines, []);
});
