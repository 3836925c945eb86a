import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "sluice";
import { openFolder } from "../testing/folder.ts";
import { indexer, Rig } from "../testing/rig.ts";
import { Fault } from "./fault.ts";
import type { SubmitOptions } from "./submission.ts";

test("a half-used window, a cooldown and a ladder survive a restart", async (t) => {
  const folder = await openFolder(t);
  const clock = new FakeClock();
  const a = indexer("a", { interval: 0, windows: [{ limit: 4, per: "1h" }] });
  const first = await Rig.openIn(folder, clock);
  for (let i = 0; i < 2; i++) first.submit({ indexers: [a] });
  first.answer = ({ id }) => {
    if (id === "b") throw new Fault("HTTP 502", { penalty: "ladder" });
    return { results: [] };
  };
  first.submit({ indexers: [indexer("b")] });
  await clock.advance("1s");
  assert.deepEqual(first.statuses.sort(), ["a empty", "a empty", "b error"]);
  await first.close();
  await clock.advance("10s");

  const second = await Rig.openIn(folder, clock);
  const { windows } = await second.sluice.gate("indexer:a").info();
  assert.deepEqual(windows, [{ limit: 4, per: 3_600_000, used: 2 }]);
  const b = await second.sluice.gate("indexer:b").info();
  assert.equal(b.ladderStep, 1);
  assert.equal(b.cooldown?.reason, "HTTP 502");
  for (let i = 0; i < 3; i++) second.submit({ indexers: [a], maxWait: 60_000 });
  second.submit({ indexers: [indexer("b")], maxWait: 10_000 });
  await clock.advance("1s");
  assert.deepEqual(second.statuses.sort(), ["a ok", "a ok", "a rate_limited", "b rate_limited"]);
});

test("tasks of a library submit that a crash left behind send nothing", async (t) => {
  const folder = await openFolder(t);
  const clock = new FakeClock();
  const first = await Rig.openIn(folder, clock);
  first.tookMs = 60_000;
  first.submit({ indexers: [indexer("a"), indexer("a"), indexer("b")] });
  await clock.advance("1s");
  assert.equal(first.started.length, 2);
  // The process ends without a word: leases and jobs stay as they are.
  await first.sluice.close({ timeout: 0 });

  const second = await Rig.openIn(folder, clock);
  await clock.advance("10m");
  assert.deepEqual(second.started, []);
  const { waiting, running } = await (await second.sluice.queue("search")).stats();
  assert.deepEqual([waiting, running], [0, 0]);
});

test("a durable submit continues after a restart, with the answers from before it", async (t) => {
  const folder = await openFolder(t);
  const clock = new FakeClock();
  const first = await Rig.openIn(folder, clock);
  const indexers = ["a", "b", "c", "d"].map((id) => indexer(id));
  first.answer = async ({ id }, _, { signal }) => {
    if (id === "b") throw new Fault("HTTP 502", { penalty: "ladder" });
    if (id === "c") await first.pass(60_000, signal);
    return { results: [`${id} before`] };
  };
  await first.sluice.gate("indexer:d").cooldown("30s", "a test");
  const id = first.submit({ indexers, durable: true, params: { q: "x" } });
  await clock.advance("1s");
  assert.deepEqual(first.statuses.sort(), ["a ok", "b error"]);
  await first.scheduler.stop({ timeout: 0 });
  assert.deepEqual(first.statuses.length, 2);
  await first.sluice.close({ timeout: 0 });

  const completed: string[] = [];
  const options: SubmitOptions<unknown, string> = {
    indexers,
    params: { q: "x" },
    durable: true,
    onComplete: ({ indexer: { id: from }, status, results, error }) =>
      void completed.push(`${from} ${status} ${results.join()} ${error?.message ?? ""}`.trim()),
    onJobDone: (done) => void completed.push(done === id ? "done" : "?"),
  };
  const second = await Rig.openIn(folder, clock, { resume: new Map([[id, options]]) });
  second.answer = ({ id: from }) => ({ results: [`${from} after`] });
  await clock.advance("1m");
  assert.deepEqual(completed.slice(0, -1).sort(), [
    "a ok a before",
    "b error  HTTP 502",
    "c ok c after",
    "d ok d after",
  ]);
  assert.equal(completed.at(-1), "done");
});

test("a durable task past its deadline is not sent", async (t) => {
  const rig = await Rig.open(t);
  await rig.sluice.gate("indexer:a").cooldown("1h", "a test");
  rig.submit({ deadline: rig.clock.now() + 45_000 });
  await rig.clock.advance("44s");
  assert.deepEqual(rig.statuses, []);
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses, ["a rate_limited"]);
  await rig.clock.advance("2h");
  assert.deepEqual(rig.started, []);
});
