import assert from "node:assert/strict";
import { test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import type { NewJob } from "@sluice/protocol";
import { payload, start } from "../testing/start.ts";

const BAD_JOBS: readonly object[] = [
  { weight: -1 },
  { weight: 0 },
  { weight: "2" },
  { gates: "x" },
  { gates: ["a gate"] },
  { fairnessKey: 5 },
  { headers: { a: 1 } },
  { headers: "none" },
  { headers: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`h${i}`, ""])) },
  { priority: 99 },
  { attempts: 0.5 },
];

/** What the route itself refuses: the port has no such form. */
const BAD_FORMS: readonly [job: object, field: string][] = [
  [{ delay: -1 }, "job.delay"],
  [{ delayMs: 5 }, "job.delayMs"],
  [{ dedupe: "k" }, "job.dedupe"],
  [{ dedupe: { key: "k", mode: "never" } }, "job.dedupe.mode"],
  [{ backoff: { min: "soon" } }, "job.backoff.min"],
  [{ lease: null }, "job.lease"],
];

test("a job with a bad duration is refused alone, by the name of the option", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  for (const [bad, field] of BAD_FORMS) {
    const jobs = [{ payload: 1 }, { payload: 1, ...bad }];
    const { body } = await call("POST /v1/queues/q/jobs", { body: { jobs } });
    assert.ok(body.results[0].id);
    assert.equal(body.results[1].error.details.field, field);
  }
});

test("one bad job of a batch is refused alone, in the same words as over the stream", async (t) => {
  const { call, server } = await start(t, { queues: ["q"] });
  const stream = await connectBroker(server.address);
  t.after(() => stream.close());
  for (const bad of BAD_JOBS) {
    const shown = JSON.stringify(bad);
    const jobs = [{ payload: 1 }, { payload: 1, ...bad }, { payload: 1 }];
    const { status, body } = await call("POST /v1/queues/q/jobs", { body: { jobs } });
    assert.equal(status, 200, shown);
    assert.ok(body.results[0].id && body.results[2].id, shown);
    const [, streamed] = await stream.add("q", [{ payload }, { payload, ...bad } as NewJob]);
    assert.deepEqual(body.results[1].error, streamed!.error, shown);
    const alone = await call("POST /v1/queues/q/jobs", { body: { payload: 1, ...bad } });
    assert.deepEqual([alone.status, alone.body.error], [400, streamed!.error], shown);
  }
});

test("a job that is none, or has a field that there is not, is refused alone", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const jobs = [{ payload: 1 }, null, 5, [], { payload: 1, foo: 1 }, {}, { payload: 2 }];
  const { status, body } = await call("POST /v1/queues/q/jobs", { body: { jobs } });
  assert.equal(status, 200);
  const codes = body.results.map(({ error }: { error?: { code: string } }) => error?.code);
  assert.deepEqual(codes, [undefined, ...Array(5).fill("INVALID"), undefined]);
  assert.equal(body.results[4].error.details.field, "job.foo");
  assert.equal((await broker.queue("q")).stats.waiting, 2);
});

test("a dedupe key without a mode is pending, over HTTP and the stream", async (t) => {
  const { call, server } = await start(t, { queues: ["q"] });
  const stream = await connectBroker(server.address);
  t.after(() => stream.close());
  const dedupe = { key: "k" };
  const { body } = await call("POST /v1/queues/q/jobs", { body: { payload: 1, dedupe } });
  const [again] = await stream.add("q", [{ payload, dedupe }]);
  assert.deepEqual(again!.ok, { id: body.id, tier: 3, duplicate: true });
});

const ROUTES: readonly [route: string, more: object, bad: readonly unknown[]][] = [
  ["ack", {}, [null, {}, { lease: 5 }, { foo: 1 }, { result: 1, resultBase64: "MQ==" }]],
  ["nack", {}, [7, {}, { delay: -1 }, { error: 5 }, { blame: "x" }, { cooldown: {} }]],
  ["give-back", {}, ["a1.1", {}, { lease: null }, { error: "x" }]],
  ["extend", { duration: "1s" }, [null, {}, { duration: 0 }, { duration: "x" }, { foo: 1 }]],
  ["progress", { progress: 1 }, [null, {}, { progress: undefined }, { foo: 1 }]],
];

for (const [route, more, bad] of ROUTES) {
  test(`one bad item of a batch is refused alone by ${route}`, async (t) => {
    const { broker, call } = await start(t, { queues: ["q"], keys: { rootKey: "k".repeat(32) } });
    const key = "k".repeat(32);
    for (const flaw of bad) {
      await broker.add("q", [{ payload }]);
      const [held] = await broker.lease("q", { max: 1 });
      const good = { lease: held!.lease, ...more };
      const isPart = typeof flaw === "object" && flaw !== null && Object.keys(flaw).length > 0;
      const items = [isPart ? { ...good, ...flaw } : flaw, good];
      const { status, body } = await call(`POST /v1/${route}`, { body: { items }, key });
      const shown = `${JSON.stringify(flaw)}: ${JSON.stringify(body)}`;
      assert.equal(status, 200, shown);
      const codes = body.results.map(({ error }: { error?: { code: string } }) => error?.code);
      assert.ok(codes[0] !== undefined && codes[0] !== "INTERNAL", shown);
      assert.equal(codes[1], undefined, shown);
      if (route === "extend" || route === "progress") await broker.ack([held!]);
    }
  });
}
