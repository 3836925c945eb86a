import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, SluiceError, SystemClock } from "@sluice/protocol";
import { SluiceHandles } from "./index.ts";
import { Job } from "./job.ts";
import { BATCH_MAX } from "./limits.ts";
import { openMail, openSluice } from "./testing/open-mail.ts";

/** A client whose calls to add jobs are noted with the number of their jobs. */
async function openCounted(): Promise<{ sluice: SluiceHandles; sizes: number[] }> {
  const clock = new SystemClock();
  const broker = await openBroker({ log: new MemoryLog(), clock });
  const sizes: number[] = [];
  const port: Broker = new Proxy(broker, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "add") {
        return (queue: string, jobs: [], options: object) => {
          sizes.push(jobs.length);
          return target.add(queue, jobs, options);
        };
      }
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { sluice: new SluiceHandles({ port, clock }), sizes };
}

test("an added job has an id and comes back as it went in", async (t) => {
  const { mail } = await openMail(t);
  const job = await mail.add({ to: "ä@b.c", n: [1, null] }, { headers: { tenant: "acme" } });
  assert.deepEqual([job.duplicate, job.dropped, job.tier], [false, false, 3]);
  const info = await job.info();
  assert.deepEqual(info.payload, { to: "ä@b.c", n: [1, null] });
  assert.deepEqual(info.headers, { tenant: "acme" });
  assert.equal(info.state, "waiting");
});

test("an add with a name, data and options, as BullMQ has it, is refused", async (t) => {
  const { mail } = await openMail(t);
  const add = mail.add.bind(mail) as (...given: unknown[]) => Promise<unknown>;
  const message = /^add takes a payload and options: jobs have no name/;
  await assert.rejects(add("send", {}, { attempts: 3 }), { code: "INVALID", message });
});

test("adds of one turn travel in one call, and others in their own", async () => {
  const { sluice, sizes } = await openCounted();
  await using _ = sluice;
  const mail = await sluice.queue("mail");
  const again = await sluice.queue("mail");
  const jobs = await Promise.all([mail.add(1), mail.add(2), again.add(3)]);
  await mail.add(4);
  assert.deepEqual(sizes, [3, 1]);
  assert.equal(new Set(jobs.map((job) => job.id)).size, 3);
});

test("a bulk add splits where the port ends, and keeps the order", async () => {
  const { sluice, sizes } = await openCounted();
  await using _ = sluice;
  const mail = await sluice.queue<number>("mail");
  const single = mail.add(-1);
  const count = BATCH_MAX + 5;
  const items = Array.from({ length: count }, (_, payload) => ({ payload }));
  const jobs = await mail.addBulk(items);
  assert.deepEqual(sizes, [1, BATCH_MAX, 5]);
  assert.equal(jobs.length, count);
  await single;
  const payloads: number[] = [];
  for await (const job of mail.consume({ prefetch: 1000 })) {
    payloads.push(job.payload);
    await job.ack();
    if (payloads.length > count) break;
  }
  assert.deepEqual(payloads, [-1, ...items.map(({ payload }) => payload)]);
});

test("what was added one by one before a bulk add stays before it", async (t) => {
  const { mail } = await openMail<string>(t);
  const first = mail.add("first");
  // It joins the batch of the first one, which would wait for it.
  const late = Promise.resolve().then(() => mail.add("late"));
  const bulk = mail.addBulk([{ payload: "bulk" }]);
  await Promise.all([first, late, bulk]);
  const order: string[] = [];
  for await (const job of mail.consume()) {
    order.push(job.payload);
    await job.ack();
    if (order.length === 3) break;
  }
  assert.deepEqual(order.slice(0, 2), ["first", "bulk"]);
});

test("an item of a bulk add that is refused leaves the others alone", async (t) => {
  const { mail } = await openMail(t);
  const results = await mail.addBulk([
    { payload: 1, weight: 2 },
    { payload: 2n },
    { payload: 3, delay: "soon" as "1s" },
    { payload: 4, weight: -1 },
    null as unknown as { payload: number },
    { data: 1 } as unknown as { payload: number },
    { payload: 5, fairnessKey: "acme" },
  ]);
  const seen = results.map((one) => (one instanceof SluiceError ? one.code : one instanceof Job));
  assert.deepEqual(seen, [true, ...Array(5).fill("INVALID"), true]);
  assert.equal((await mail.stats()).waiting, 2);
});

test("a bulk add that is empty, or no list, does no harm", async (t) => {
  const { mail } = await openMail(t);
  assert.deepEqual(await mail.addBulk([]), []);
  await assert.rejects(mail.addBulk({} as []), { code: "INVALID" });
});

test("a bulk add that is repeated with its operation id adds nothing", async (t) => {
  const { mail } = await openMail(t);
  const first = await mail.addBulk([{ payload: 1 }], { operationId: "op" });
  const second = await mail.addBulk([{ payload: 1 }], { operationId: "op" });
  assert.deepEqual(second, first);
  assert.equal((await mail.stats()).waiting, 1);
});

test("what JSON cannot carry is refused by the name of its field", async (t) => {
  const { mail } = await openMail(t);
  await assert.rejects(mail.add(undefined), { code: "INVALID", message: /^payload must be JSON/ });
  await assert.rejects(mail.add({ a: { b: () => 1 } }), { message: /^payload\.a\.b must be JSON/ });
  const when = new Date(Number.NaN);
  await assert.rejects(mail.add({ when }), {
    message: "payload.when must be JSON, got an invalid Date",
  });
});

test("a payload over the limit is refused by the broker", async (t) => {
  const { mail } = await openMail(t);
  await mail.add("x".repeat(1024 * 1024 - 2));
  await assert.rejects(mail.add("x".repeat(1024 * 1024 - 1)), { code: "PAYLOAD_TOO_LARGE" });
});

test("bytes pass untouched where the queue says so", async (t) => {
  const { sluice } = await openSluice(t);
  const files = await sluice.queue("files", { codec: "bytes" });
  const bytes = new Uint8Array([0, 255, 123, 10]);
  const job = await files.add(bytes);
  assert.deepEqual([...(await job.info()).payload], [...bytes]);
  await assert.rejects(files.add("text" as unknown as Uint8Array), {
    code: "INVALID",
    message: /payload must be a Uint8Array/,
  });
});

test("a duplicate is marked as such and has the id of the first job", async (t) => {
  const { mail } = await openMail(t);
  const first = await mail.add(1, { dedupe: { key: "k" } });
  const second = await mail.add(2, { dedupe: { key: "k" } });
  assert.deepEqual([second.duplicate, second.id], [true, first.id]);
  assert.equal(await mail.cancelByKey("k"), true);
  assert.equal(await mail.cancelByKey("k"), false);
});

test("a dropped job says so, and so do its calls", async (t) => {
  const { mail } = await openMail(t, { capacity: { jobs: 1 }, onFull: "drop" });
  await mail.add(1);
  const job = await mail.add(2);
  assert.equal(job.dropped, true);
  for (const call of [job.info(), job.finished(), job.cancel(), job.why(), job.retry()]) {
    await assert.rejects(call, { code: "JOB_NOT_FOUND", message: /dropped/ });
  }
});

test("a full queue refuses with the time to come back", async (t) => {
  const { mail } = await openMail(t, { capacity: { jobs: 1 } });
  await mail.add(1);
  await assert.rejects(mail.add(2), { code: "QUEUE_FULL", isRetryable: true });
});

test("policies run before the add, on what is stored", async (t) => {
  const { sluice } = await openSluice(t);
  interface Mail {
    tenant: string;
  }
  const mail = await sluice.queue("mail", {
    policy: {
      fairnessKey: (payload: Mail) => payload.tenant,
      gates: (_, headers) => [`provider:${headers.provider}`],
      priority: () => 1,
    },
  });
  const job = await mail.add({ tenant: "acme" }, { headers: { provider: "aws" }, priority: 0 });
  const { fairnessKey, gates, tier } = await job.info();
  assert.deepEqual([fairnessKey, gates, tier], ["acme", ["provider:aws"], 0]);
  await assert.rejects(mail.add(null as unknown as Mail), {
    message: /^queue\.policy\.fairnessKey/,
  });
});

test("a queue that was deleted refuses adds", async (t) => {
  const { mail } = await openMail(t);
  await mail.delete();
  await assert.rejects(mail.add(1), { code: "QUEUE_NOT_FOUND" });
  await assert.rejects(mail.addBulk([{ payload: 1 }]), { code: "QUEUE_NOT_FOUND" });
});
