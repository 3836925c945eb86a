// Small jobs go to a thread several at a time; these check that each is still alone with its harm.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LIST_RESULTS_BYTES } from "../limits.ts";
import { type OpenPool, openPool, runIn } from "../testing/pool.ts";
import type { NewRun } from "./pool.ts";

const TIMEOUT = { name: "JobTimeout", message: "took longer than 1 s" };

/** A pool that knows jobs of the type `either` as small ones. */
async function warm(t: TestContext, max = 1): Promise<OpenPool> {
  const pool = await openPool(t, { max });
  for (let i = 0; i < 5; i++) await runIn(pool, "either", { args: { type: "nothing" } });
  return pool;
}

const either = (pool: OpenPool, type: string, args?: unknown, more: Partial<NewRun> = {}) =>
  runIn(pool, "either", { args: { type, args }, ...more });

/** Jobs of one turn: they go to the thread as one list. */
const outcomes = async (runs: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(runs)).map((end) =>
    end.status === "fulfilled" ? JSON.stringify(end.value) : String(end.reason.message),
  );

test("each job of a list has its own result or error, large results too", async (t) => {
  const pool = await warm(t);
  const ends = await outcomes([
    either(pool, "echo", 1),
    either(pool, "fail"),
    either(pool, "large", LIST_RESULTS_BYTES),
    either(pool, "nothing"),
    either(pool, "progress"),
    either(pool, "echo", { a: "ä" }),
  ]);
  const large = JSON.stringify("x".repeat(LIST_RESULTS_BYTES));
  const wanted = ["1", "as it was asked to", large, "null", '"told"', '{"a":"ä"}'];
  assert.deepEqual(ends, wanted);
});

test("a job of a list that computes is ended at its time; the others run elsewhere", async (t) => {
  const pool = await warm(t, 2);
  const spin = { timeoutMs: 1_000 };
  const first = either(pool, "echo", "before");
  const long = either(pool, "spin", { ms: 600_000 }, spin);
  const after = Array.from({ length: 6 }, (_, i) => either(pool, "echo", i));
  let isOver = false;
  const ended = assert.rejects(long, TIMEOUT).then(() => {
    isOver = true;
  });
  assert.equal(await first, "before");
  assert.deepEqual(await Promise.all(after), [0, 1, 2, 3, 4, 5]);
  assert.equal(isOver, false);
  await ended;
});

test("with a single thread the others of a list run after the one that computes", async (t) => {
  const pool = await warm(t);
  const runs = [
    either(pool, "echo", "before"),
    either(pool, "spin", { ms: 600_000 }, { timeoutMs: 1_000 }),
    either(pool, "echo", "after"),
  ];
  assert.deepEqual(await outcomes(runs), ['"before"', TIMEOUT.message, '"after"']);
});

test("an exit or a throw in a list fails its own job, and each job begins once", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lists-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [harm, message] of [
    ["exit", /ended with exit code 7/],
    ["throwLate", /thrown from a timer/],
    ["eat", /more than 128 MiB of memory/],
  ] as const) {
    const pool = await warm(t);
    const note = join(folder, harm);
    const run = (type: string, args: unknown): Promise<unknown> =>
      runIn(pool, "either", { args: { type, args, note } });
    const ends = await outcomes([run("echo", 1), run("echo", 2), run(harm, 0), run("echo", 3)]);
    assert.match(ends.splice(2, 1)[0]!, message);
    assert.deepEqual(ends, ["1", "2", "3"]);
    assert.deepEqual(readFileSync(note, "utf8"), `echo\necho\n${harm}\necho\n`);
  }
});

test("what a job of a list does after its end harms no other", async (t) => {
  for (const type of ["exitAfter", "throwAfter", "rejectAfter"]) {
    const pool = await warm(t);
    const runs = [either(pool, type, 1), either(pool, "wait", 100), either(pool, "echo", 3)];
    assert.deepEqual(await outcomes(runs), ['"ended"', '"waited"', "3"], type);
  }
});

test("a cancelled job of a list leaves: before it has begun, or by its signal", async (t) => {
  const pool = await warm(t);
  const leaving = new AbortController();
  const { signal } = leaving;
  const runs = [
    either(pool, "echo", 1),
    either(pool, "heed", undefined, { signal }),
    either(pool, "echo", 2, { signal }),
    either(pool, "echo", 3),
  ];
  await runs[0];
  leaving.abort(new Error("cancelled"));
  assert.deepEqual(await outcomes(runs), ["1", "cancelled", "cancelled", "3"]);
});

test("jobs with a short time limit are not part of a list", async (t) => {
  const pool = await warm(t);
  const short = { timeoutMs: 50 };
  const runs = [
    either(pool, "echo", 1),
    either(pool, "spin", { ms: 600_000 }, short),
    either(pool, "spin", { ms: 600_000 }, short),
    either(pool, "echo", 2),
  ];
  const over = "took longer than 0.05 s";
  assert.deepEqual(await outcomes(runs), ["1", over, over, "2"]);
});

test("a pool that closes rejects all jobs of a list, begun or not", async (t) => {
  const pool = await warm(t);
  const runs = [either(pool, "echo", 1), either(pool, "ignore"), either(pool, "echo", 2)];
  await runs[0];
  pool.close();
  const [done, running, waiting] = await outcomes(runs);
  assert.deepEqual([done, waiting], ["1", "the server was closed"]);
  assert.match(running!, /did not end/);
  await assert.rejects(either(pool, "echo", 3), /the server was closed/);
  const other = await warm(t);
  const handed = outcomes([either(other, "ignore"), either(other, "echo", 4)]);
  setImmediate(() => other.close());
  for (const end of await handed) assert.match(end, /did not end|the server was closed/);
});
