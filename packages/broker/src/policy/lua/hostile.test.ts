import assert from "node:assert/strict";
import { test } from "node:test";
import { turningClock } from "@sluice/protocol/testing";
import type { LocalBroker } from "../../broker.ts";
import { REST_MS, SCRIPT_WAIT_MS } from "../../limits.ts";
import { job } from "../../testing/opened.ts";
import { addOne, nextEvent, openScript } from "../../testing/scripts.ts";
import { Pool } from "./pool.ts";
import { Script } from "./script.ts";

const GOOD = "function on_enqueue() return { fairness_key = 'scripted' } end";
/** Backtracks in C, where it cannot be interrupted: its thread has to be ended. */
const BOMB = "string.find(('a'):rep(60), ('a-'):rep(60) .. 'b')";

/** A broker whose queue "q" has a good script that has run. */
async function openGood() {
  const opened = await openScript(GOOD);
  await addOne(opened.broker);
  return opened;
}

/** Adds one job; answers with which key, and how many of the others were answered before it. */
async function addBeside(broker: LocalBroker, others: readonly Promise<unknown>[]) {
  let answered = 0;
  for (const other of others) {
    void other.then(
      () => answered++,
      () => answered++,
    );
  }
  const { fairnessKey } = await addOne(broker);
  return { fairnessKey, answered };
}

test("a good script does not wait for those of thirty hostile queues", async () => {
  const { broker } = await openGood();
  const hostile: Promise<unknown>[] = [];
  for (let i = 0; i < 30; i++) {
    const lua = `function on_enqueue() ${BOMB} end`;
    await broker.setQueue(`hostile-${i}`, { policy: { lua } });
  }
  for (let i = 0; i < 30; i++) hostile.push(broker.add(`hostile-${i}`, [job("x")]));
  const { fairnessKey, answered } = await addBeside(broker, hostile);
  assert.equal(fairnessKey, "scripted");
  assert.ok(answered <= 3, `${answered} hostile jobs were answered first`);
  await broker.close();
});

test("an add does not wait for trial runs", async () => {
  const { broker } = await openGood();
  const trials = Array.from({ length: 6 }, (_, i) =>
    broker.setQueue(`evil-${i}`, { policy: { lua: BOMB } }),
  );
  const { fairnessKey, answered } = await addBeside(broker, trials);
  assert.equal(fairnessKey, "scripted");
  assert.ok(answered <= 2, `${answered} trials ended first`);
  await broker.close();
  await Promise.allSettled(trials);
});

test("a script whose thread was ended is not asked again before it has rested", async () => {
  const { broker, clock } = await openScript(
    `function on_enqueue(m) if m.headers.bad then ${BOMB} end return { fairness_key = "fine" } end`,
  );
  const told = nextEvent(broker, "policy-failed");
  assert.equal((await addOne(broker, { bad: "1" })).fairnessKey, "fallback");
  const { queue, reason } = await told;
  assert.deepEqual([queue, reason], ["q", "killed"]);
  assert.equal((await addOne(broker)).fairnessKey, "fallback");
  const [{ script } = {}] = (await broker.stats({ queues: ["q"] })).queues;
  assert.deepEqual([script?.isOpen, script?.runs, script?.failures.killed], [true, 1, 1]);
  await clock.advance(REST_MS);
  assert.equal((await addOne(broker)).fairnessKey, "fine");
});

test("a job waits 250 ms by the broker's clock for its script, then continues", async () => {
  const clock = turningClock(5);
  const pool = new Pool(clock, { version: 0, bytes: () => new Uint8Array(0) });
  const told: unknown[] = [];
  const script = new Script(
    "q",
    `function on_enqueue() ${BOMB} end`,
    () => clock.now(),
    (...trouble) => told.push(trouble[0]),
  );
  const question = { headers: {}, payloadBytes: 1 };
  let answers: unknown;
  void pool.ask(script, "enqueue", [question, question]).then((said) => {
    answers = said;
  });
  await clock.advance(SCRIPT_WAIT_MS - 1);
  assert.equal(answers, undefined);
  await clock.advance(1);
  assert.deepEqual(answers, [{}, {}]);
  assert.deepEqual(told, ["timeout"]);
  const { failures, isOpen } = script.stats();
  assert.deepEqual([failures.timeout, isOpen], [2, false]);
  await pool.close();
});

test("a failure too waits for its script for 250 ms at most", async () => {
  const clock = turningClock(5);
  const pool = new Pool(clock, { version: 0, bytes: () => new Uint8Array(0) });
  const now = (): number => clock.now();
  const script = new Script("q", `function on_failure() ${BOMB} end`, now, () => {});
  const failure = { id: "a1", attempts: 1, attemptsMax: 5, error: "boom" };
  const asking = pool.ask(script, "failure", [{ headers: {}, payloadBytes: 1, failure }]);
  await clock.advance(SCRIPT_WAIT_MS);
  assert.deepEqual(await asking, [{}]);
  await pool.close();
});
