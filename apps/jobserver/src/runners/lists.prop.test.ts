// Whatever jobs of a small type do, in whichever order, each ends once and as it would alone.

import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { openPool, runIn } from "../testing/pool.ts";

const ENDS: Readonly<Record<string, { args?: unknown; end: RegExp }>> = {
  echo: { args: 1, end: /^1$/ },
  nothing: { end: /^null$/ },
  fail: { end: /as it was asked to/ },
  large: { args: 40_000, end: /^"x{40000}"$/ },
  wait: { args: 15, end: /^"waited"$/ },
  spin: { args: { ms: 15 }, end: /^"done"$/ },
  exit: { end: /ended with exit code 7/ },
  throwLate: { end: /thrown from a timer/ },
};
const kind = fc.constantFrom("echo", "echo", "echo", "nothing", ...Object.keys(ENDS));

test("each job of any lists begins once and ends as it would alone", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lists-"));
  t.after(() => rmSync(folder, { recursive: true }));
  let count = 0;
  const bursts = fc.array(fc.array(kind, { minLength: 1, maxLength: 24 }), { maxLength: 4 });
  const property = fc.asyncProperty(bursts, fc.integer({ min: 1, max: 3 }), async (lists, max) => {
    const note = join(folder, String(++count));
    appendFileSync(note, "");
    const pool = await openPool(t, { max });
    const run = (type: string, noted = note): Promise<unknown> =>
      runIn(pool, "either", { args: { type, args: ENDS[type]!.args, note: noted } });
    for (const list of lists) {
      // Waits and computing are forgotten: jobs of the type count as small again.
      for (let i = 0; i < 40; i++) await run("nothing", join(folder, "warm"));
      const ends = await Promise.allSettled(list.map((type) => run(type)));
      for (const [i, end] of ends.entries()) {
        const isDone = end.status === "fulfilled";
        assert.match(isDone ? JSON.stringify(end.value) : end.reason.message, ENDS[list[i]!]!.end);
      }
    }
    pool.close();
    const begun = readFileSync(note, "utf8").split("\n").filter(Boolean);
    assert.deepEqual(begun.sort(), lists.flat().sort());
  });
  await fc.assert(property, { numRuns: 12 });
});
