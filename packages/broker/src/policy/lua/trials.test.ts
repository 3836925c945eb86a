import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { turningClock } from "@sluice/protocol/testing";
import { TRIAL_IDLE_MS, TRIAL_REST_MS, TRIALS_WAITING_MAX } from "../../limits.ts";
import { Script } from "./script.ts";
import { Trials } from "./trials.ts";

const GOOD = "function on_enqueue() end";
/** Backtracks in C, where it cannot be interrupted: its thread has to be ended. */
const BOMB = "string.find(('a'):rep(60), ('a-'):rep(60) .. 'b')";

function trialsOn(t: TestContext) {
  const clock = turningClock(5);
  const trials = new Trials(clock, { version: 0, bytes: () => new Uint8Array(0) });
  t.after(() => trials.close());
  const ended: string[] = [];
  const run = (queue: string, source = GOOD): Promise<unknown> => {
    const script = new Script(
      queue,
      source,
      () => clock.now(),
      () => {},
    );
    const trial = trials.run(script).catch((error: Error) => error);
    return trial.then((answer) => {
      ended.push(queue);
      return answer;
    });
  };
  return { clock, trials, ended, run };
}

test("tenants take turns, whatever each of them has waiting", async (t) => {
  const { ended, run } = trialsOn(t);
  await Promise.all(["a.1", "a.2", "a.3", "b.1", "b.2", "c"].map((queue) => run(queue)));
  assert.deepEqual(ended, ["a.1", "a.2", "b.1", "c", "a.3", "b.2"]);
});

test("after a trial that cost a thread its tenant rests, and others do not", async (t) => {
  const { clock, ended, run } = trialsOn(t);
  const bomb = run("a.x", BOMB);
  const same = run("a.y");
  await run("b");
  assert.match(String(await bomb), /its thread was ended/);
  assert.deepEqual(ended, ["a.x", "b"]);
  const late = run("a.z");
  await run("c");
  await clock.advance(TRIAL_REST_MS - 1);
  await run("d");
  assert.deepEqual(ended, ["a.x", "b", "c", "d"]);
  await clock.advance(1);
  assert.deepEqual(await Promise.all([same, late]), ["e", "e"]);
});

test("a tenant cannot have any number of trials waiting", async (t) => {
  const { run } = trialsOn(t);
  const all = Array.from({ length: TRIALS_WAITING_MAX + 2 }, (_, i) => run(`a.${i}`));
  const refused = (await all.at(-1)) as { code?: string };
  assert.equal(refused.code, "RATE_LIMITED");
  assert.equal(await run("b"), "e");
  assert.deepEqual(new Set(await Promise.all(all.slice(0, -1))), new Set(["e"]));
});

test("the thread ends when nothing was tried for a while, and starts again", async (t) => {
  const { clock, trials, run } = trialsOn(t);
  await run("a");
  await clock.advance(TRIAL_IDLE_MS - 1);
  await run("b");
  await clock.advance(TRIAL_IDLE_MS - 1);
  assert.equal(trials.threads, 1);
  await clock.advance(1);
  assert.equal(trials.threads, 0);
  assert.equal(await run("c"), "e");
});
