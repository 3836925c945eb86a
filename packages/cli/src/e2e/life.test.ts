import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import { call } from "@sluice/server/testing/start";
import { addAll, codesOf, job, take, textOf } from "../testing/jobs.ts";
import { spawnServe } from "../testing/spawn-serve.ts";

test("a job comes out as it went in, once, and each wrong ack has its own code", async (t) => {
  const server = await spawnServe(t, []);
  const { broker } = await server.connect();
  await broker.setQueue("q", { retry: { min: 0, jitter: 0 } });
  const added = await call(server.address, "POST /v1/queues/q/jobs", {
    body: { payload: { to: "a@b.c" }, headers: { tenant: "acme" } },
  });
  assert.equal(added.status, 201);
  const [first] = await take(broker, "q", 1);
  assert.equal(first!.id, added.body.id);
  assert.deepEqual(JSON.parse(textOf(first!)), { to: "a@b.c" });
  assert.equal(first!.headers.tenant, "acme");
  assert.equal(first!.attempt, 0);

  await broker.nack([{ lease: first!.lease, error: "not yet", delayMs: 0 }]);
  const [second] = await take(broker, "q", 1);
  assert.equal(second!.attempt, 1);
  assert.deepEqual(codesOf(await broker.ack([{ lease: first!.lease }])), ["LEASE_LOST"]);
  assert.deepEqual(codesOf(await broker.ack([{ lease: second!.lease }])), ["ok"]);
  const unknown = "c999.1";
  const items = [{ lease: second!.lease }, { lease: unknown }];
  const codes = ["ALREADY_FINISHED", "JOB_NOT_FOUND"];
  assert.deepEqual(codesOf(await broker.ack(items)), codes, "over the stream");
  const answer = await call(server.address, "POST /v1/ack", { body: { items } });
  assert.deepEqual(codesOf(answer.body.results), codes, "and over HTTP");
  assert.deepEqual(await broker.lease("q", { max: 1 }), [], "it does not come back");
});

test("attempts rise, delays hold, and what fails for good can be put back", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const { broker } = await server.connect();
  await broker.setQueue("q", { retry: { attempts: 3, min: 1, jitter: 0 } });
  const ids = await addAll(
    broker,
    "q",
    ["a", "b", "c"].map((text) => job(text, { headers: { text } })),
  );
  const delayMs = 150;
  for (let attempt = 0; attempt < 3; attempt++) {
    const jobs = await take(broker, "q", ids.length);
    assert.deepEqual(new Set(jobs.map((one) => one.attempt)), new Set([attempt]));
    const from = performance.now();
    await broker.nack(jobs.map(({ lease }) => ({ lease, error: `no ${attempt}`, delayMs })));
    if (attempt === 2) break;
    const [next] = await broker.lease("q", { max: 1, wait: 5_000 });
    assert.ok(performance.now() - from >= delayMs, "not before its delay");
    await broker.giveBack([next!.lease]);
  }
  const dead = await broker.jobs("q.dlq");
  assert.deepEqual(dead.items.map(textOf).sort(), ["a", "b", "c"]);
  for (const info of dead.items) {
    assert.equal(info.error, "no 2");
    assert.equal(info.dead?.origin, "q");
    assert.equal(info.headers.text, textOf(info));
  }
  const wrong = await call(server.address, "POST /v1/queues/q/redrive", { body: {} });
  assert.ok(wrong.status >= 400 && wrong.status < 500, "q is no dead letter queue");
  assert.equal(await broker.redrive("q.dlq", { count: 1 }), 1);
  assert.equal(await broker.redrive("q.dlq"), 2);
  const back = await take(broker, "q", 3);
  assert.ok(back.every(({ attempt }) => attempt === 0));
  assert.deepEqual(back.map(textOf).sort(), ["a", "b", "c"]);
});

test("waiting consumers get jobs at once, full ones block none, none share a job", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const producer = (await server.connect()).broker;
  await producer.setQueue("q", {});
  const got: LeasedJob[][] = [[], []];
  const all = Promise.withResolvers<void>();
  const COUNT = 200;
  const CREDITS = [5, COUNT];
  for (const [i, credits] of CREDITS.entries()) {
    const { broker } = await server.connect();
    await broker.consume("q", { worker: `w${i}`, credits }, (jobs) => {
      got[i]!.push(...jobs);
      if (got[0]!.length + got[1]!.length >= COUNT) all.resolve();
    });
  }
  const ids = await addAll(
    producer,
    "q",
    Array.from({ length: COUNT }, (_, i) => job(`${i}`)),
  );
  await all.promise;
  const seen = got.flat().map(({ id }) => id);
  assert.deepEqual([...seen].sort(), [...ids].sort());
  assert.ok(got[0]!.length <= CREDITS[0]!, "never more than its credits");
});

test("a queue that is deleted is gone for good, one that is changed keeps its jobs", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const { broker } = await server.connect();
  const dedupe = { key: "once", mode: "window", windowMs: 60_000 } as const;
  await broker.setQueue("q", {});
  const [, waiting] = await addAll(broker, "q", [job("held"), job("waiting", { dedupe })]);
  const [held] = await take(broker, "q", 1);
  await broker.setQueue("q", { lease: 60_000 });
  assert.equal((await broker.queue("q")).stats.waiting, 1);
  assert.equal((await call(server.address, "DELETE /v1/queues/q")).status, 200);
  await assert.rejects(broker.job(waiting!), { code: "ALREADY_FINISHED" });
  assert.notDeepEqual(codesOf(await broker.ack([{ lease: held!.lease }])), ["ok"]);
  await broker.setQueue("q", {});
  assert.equal((await broker.queue("q")).stats.waiting, 0);
  const [again] = await broker.add("q", [job("anew", { dedupe })]);
  assert.equal(again?.ok?.duplicate, undefined, "its dedupe keys went with it");
});
