import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import { addAll, codesOf, job, take, textOf } from "../testing/jobs.ts";
import { newDir, spawnServe } from "../testing/spawn-serve.ts";

const GATED = 5;
const DELAYS_MS = [100, 3_600_000];
const FLOW = 100;
const CYCLES = 2;
const ADDERS = 20;
/** Answers after which the server is killed: in the middle of the others. */
const ANSWERS_PER_LIFE = 300;

test("a killed server continues where it stopped: leases, levels, delays, order", async (t) => {
  const dir = newDir();
  const first = await spawnServe(t, [], dir);
  const { broker } = await first.connect();
  for (const queue of ["held", "gated", "later", "flow"]) {
    await broker.setQueue(queue, { lease: 600_000 });
  }
  await broker.setGate("daily", { windows: [{ limit: GATED, per: 86_400_000 }] });
  await addAll(broker, "held", [job("held"), job("finished")]);
  const [held, finished] = await take(broker, "held", 2);
  await broker.ack([{ lease: finished!.lease }]);
  const gated = Array.from({ length: 2 * GATED }, () => job("x", { gates: ["daily"] }));
  await addAll(broker, "gated", gated);
  await take(broker, "gated", GATED);
  const delayed = DELAYS_MS.map((delayMs) => job(String(delayMs), { delayMs }));
  const [, late] = await addAll(broker, "later", delayed);
  const { at: dueAt } = await broker.job(late!);
  const texts = Array.from({ length: FLOW }, (_, i) => String(i));
  await addAll(
    broker,
    "flow",
    texts.map((text) => job(text, { fairnessKey: "one" })),
  );
  const begun = await take(broker, "flow", FLOW / 2);
  await broker.ack(begun.map(({ lease }) => ({ lease })));

  // In the middle: these are in flight, and their outcome is unknown.
  const unanswered = broker
    .add("flow", [job("unanswered", { fairnessKey: "one" })])
    .catch(() => undefined);
  await first.end("SIGKILL");
  const second = await spawnServe(t, ["--port", String(first.port)], dir);
  await unanswered;
  const again = (await second.connect()).broker;

  assert.deepEqual(codesOf(await again.ack([{ lease: held!.lease }])), ["ok"], "a live lease");
  const old = await again.ack([{ lease: finished!.lease }]);
  assert.deepEqual(codesOf(old), ["ALREADY_FINISHED"], "nothing finished comes back");
  assert.deepEqual(await again.lease("gated", { max: GATED }), [], "the day's budget is used up");
  const rest = await take(again, "flow", FLOW / 2);
  assert.deepEqual([...begun, ...rest].map(textOf), texts, "the order of a strand");
  assert.equal((await again.job(late!)).at, dueAt, "a delay does not begin again");
  assert.deepEqual((await take(again, "later", 1)).map(textOf), ["100"], "and ends in time");
});

test("a server that is asked to end does so in order, and can be started again", async (t) => {
  const dir = newDir();
  const first = await spawnServe(t, [], dir);
  const { broker } = await first.connect();
  await broker.setQueue("q", {});
  await addAll(broker, "q", [job("x")]);
  const poll = broker.lease("empty-for-now", { max: 1, wait: 30_000 }).catch(() => []);
  assert.equal(await first.end("SIGTERM"), 0);
  const second = await spawnServe(t, ["--port", String(first.port)], dir);
  await poll;
  assert.equal((await take((await second.connect()).broker, "q", 1)).length, 1);
});

for (const threads of [1, 3]) {
  const where = threads === 1 ? "" : `, with ${threads} threads`;
  const promise = `loses no confirmed add and doubles none${where}`;
  test(`a server that is killed under load ${promise}`, (t) => killedUnderLoad(t, threads));
}

async function killedUnderLoad(t: TestContext, threads: number): Promise<void> {
  const dir = newDir();
  const words = ["--durability", "os", "--threads", String(threads)];
  let server = await spawnServe(t, words, dir);
  const { broker } = await server.connect();
  const restart = async (): Promise<void> => {
    await server.end("SIGKILL");
    server = await spawnServe(t, [...words, "--port", String(server.port)], dir);
  };
  await broker.setQueue("q", { lease: 600_000 });

  const confirmed = new Map<string, string>();
  let answers = 0;
  let isOver = false;
  let reached = Promise.withResolvers<void>();
  const add = async (adder: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const name = `${adder}-${i}`;
      const [id] = await addAll(broker, "q", [job(name)]);
      confirmed.set(name, id!);
      if (++answers % ANSWERS_PER_LIFE === 0) reached.resolve();
    }
  };
  const adders = Array.from({ length: ADDERS }, (_, adder) => add(adder));
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await reached.promise;
    reached = Promise.withResolvers();
    await restart();
  }
  isOver = true;
  await Promise.all(adders);

  const { stats } = await broker.queue("q");
  assert.equal(stats.added, confirmed.size, "as many jobs as adds that were confirmed");
  const jobs: LeasedJob[] = [];
  const got = Promise.withResolvers<void>();
  await broker.consume("q", { worker: "w", credits: confirmed.size }, (more) => {
    jobs.push(...more);
    if (jobs.length === confirmed.size) got.resolve();
  });
  await got.promise;
  for (const one of jobs) assert.equal(confirmed.get(textOf(one)), one.id);

  // Leases outlive the server too: a kill between the delivery and the ack changes nothing.
  await restart();
  const outcomes = await broker.ack(jobs.map(({ lease }) => ({ lease })));
  assert.ok(outcomes.every(({ ok }) => ok === true));
  assert.deepEqual(codesOf(await broker.ack([jobs[0]!])), ["ALREADY_FINISHED"]);
  assert.equal((await broker.queue("q")).stats.finished, confirmed.size);
}
