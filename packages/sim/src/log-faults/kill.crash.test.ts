import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileLog } from "@sluice/log";

const CYCLES = Number(process.env.KILL_CYCLES ?? 10);
const CHILD = join(import.meta.dirname, "child", "main.ts");

// Runs the child until it has confirmed so many appends, kills it, and answers the last one.
async function appendAndKill(dir: string, first: number, count: number): Promise<number> {
  const child = spawn(process.execPath, [CHILD, dir, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let lines = 0;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
    lines += chunk.split("\n").length - 1;
    if (lines >= count) child.kill("SIGKILL");
  });
  await once(child, "close");
  const told = text.slice(0, text.lastIndexOf("\n")).split("\n").map(Number);
  return Math.max(...told);
}

async function readNumbers(dir: string): Promise<number[]> {
  await using log = await FileLog.open({ dir });
  const numbers: number[] = [];
  for await (const { facts } of log.replay()) {
    const number = Buffer.from(facts).readDoubleLE();
    assert.equal(facts.length, 8 + (number % 3000));
    numbers.push(number);
  }
  return numbers;
}

test(`a process killed ${CYCLES} times while it appends loses nothing confirmed`, async () => {
  const dir = await mkdtemp(join(tmpdir(), "sluice-kill-"));
  try {
    let known: number[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const first = (known.at(-1) ?? 0) + 1;
      const confirmed = await appendAndKill(dir, first, 30 + cycle * 17);
      const numbers = await readNumbers(dir);
      assert.ok(confirmed >= first, "the child has confirmed nothing");
      assert.ok(numbers.at(-1)! >= confirmed, `${confirmed} was confirmed and is gone`);
      assert.deepEqual(
        numbers,
        Array.from({ length: numbers.length }, (_, index) => index + 1),
      );
      known = numbers;
    }
  } finally {
    await rm(dir, { recursive: true });
  }
});
