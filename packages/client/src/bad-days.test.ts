/** What a worker does when the log fails, falls behind, or a handler blocks everything. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { type Log, MemoryLog } from "@sluice/log";
import { type Broker, SluiceError, SystemClock } from "@sluice/protocol";
import { turningClock, turns, unattached } from "@sluice/protocol/testing";
import { FakeClock, SluiceHandles } from "./index.ts";
import { CLOSE_TIMEOUT_MS, UNCONFIRMED_MAX } from "./limits.ts";

/** The target, but for the functions given. */
function instead<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in own) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("a failed log is reported, refuses waiting calls, and does not end the process", async () => {
  const clock = new FakeClock();
  const memory = new MemoryLog();
  const failed = Promise.withResolvers<SluiceError>();
  let isBroken = false;
  const log: Log = instead(memory, {
    failed: failed.promise,
    append: (facts) => {
      if (!isBroken) return memory.append(facts);
      const error = new SluiceError("LOG_FAILED", "no space left on the device");
      failed.resolve(error);
      return Promise.reject(error);
    },
  });
  const port = await openBroker({ log, clock });
  const sluice = new SluiceHandles({ port, clock, failed: failed.promise });
  const mail = await sluice.queue<number>("mail");
  const { promise, resolve } = Promise.withResolvers<void>();
  const heard = new Set<string>();
  sluice.on("error", ({ error }) => heard.add((error as SluiceError).code));
  const closed = new Promise((done) => mail.work(() => promise).on("closed", done));
  await mail.add(1);
  await sluice.drain();
  isBroken = true;
  await assert.rejects(mail.add(2), { code: "LOG_FAILED" });
  await assert.rejects(mail.addBulk([{ payload: 3 }]), { code: "LOG_FAILED" });
  resolve();
  await closed;
  assert.deepEqual([...heard], ["LOG_FAILED"]);
  await sluice.close();
});

test("a worker takes no more jobs while too many ends are not confirmed", async () => {
  const clock = new FakeClock();
  const broker = await openBroker({ log: new MemoryLog(), clock });
  const hold = Promise.withResolvers<void>();
  const port: Broker = instead<Broker>(broker, {
    ack: async (items) => {
      const outcomes = await broker.ack(items);
      await hold.promise;
      return outcomes;
    },
  });
  await using sluice = new SluiceHandles({ port, clock });
  const mail = await sluice.queue<number>("mail");
  const concurrency = 500;
  const count = UNCONFIRMED_MAX + 3 * concurrency;
  await mail.addBulk(Array.from({ length: count }, (_, payload) => ({ payload })));
  let calls = 0;
  const held = Promise.withResolvers<void>();
  mail.work(
    () => {
      calls++;
      if (calls === UNCONFIRMED_MAX) held.resolve();
    },
    { concurrency },
  );
  await held.promise;
  // A drain would wait for the acks, so this waits for turns of the event loop.
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assert.ok(calls >= UNCONFIRMED_MAX && calls <= UNCONFIRMED_MAX + concurrency, String(calls));
  hold.resolve();
  await sluice.drain();
  assert.equal(calls, count);
});

test("a handler that blocks the event loop beyond its lease does not stop the worker", async () => {
  const clock = new SystemClock();
  const port = await openBroker({ log: new MemoryLog(), clock });
  await using sluice = new SluiceHandles({ port, clock });
  const retry = { min: 0, max: 0 };
  const mail = await sluice.queue<string, number>("mail", { lease: 20, retry });
  mail.work(({ payload, attempt }) => {
    const until = performance.now() + (payload === "block" && attempt === 0 ? 60 : 0);
    while (performance.now() < until);
    return attempt;
  });
  const [blocking, other] = await Promise.all([mail.add("block"), mail.add("other")]);
  assert.ok((await blocking.finished()) >= 0);
  assert.ok((await other.finished()) >= 0);
});

test("a handler that blocks longer than its lease costs no job an attempt", async () => {
  const clock = new SystemClock();
  const port = await openBroker({ log: new MemoryLog(), clock });
  await using sluice = new SluiceHandles({ port, clock });
  const mail = await sluice.queue<string, number>("mail", { lease: 50, retry: { min: 0, max: 0 } });
  mail.work(
    ({ payload, attempt }) => {
      const until = performance.now() + (payload === "block" ? 200 : 0);
      while (performance.now() < until);
      return attempt;
    },
    { concurrency: 5 },
  );
  const payloads = ["block", "a", "b", "c", "d"];
  const jobs = await Promise.all(payloads.map((payload) => mail.add(payload)));
  const attempts = await Promise.all(jobs.map((job) => job.finished()));
  assert.deepEqual(attempts, [0, 0, 0, 0, 0]);
});

test("a result that the broker refuses fails its job at once, with the reason", async () => {
  const clock = new FakeClock();
  const port = await openBroker({ log: new MemoryLog(), clock });
  await using sluice = new SluiceHandles({ port, clock });
  sluice.on("error", () => {});
  const mail = await sluice.queue<number, string>("mail", { dlq: false });
  let runs = 0;
  mail.work(() => {
    runs++;
    return "x".repeat(2_000_000);
  });
  const told = new Promise((resolve) => mail.on("failed", resolve));
  const job = await mail.add(1);
  await assert.rejects(job.finished(), /PAYLOAD_TOO_LARGE/);
  assert.equal(((await told) as { job: { id: string } }).job.id, job.id);
  assert.equal(runs, 1);
});

test("without a word handlers have the usual time to end", async () => {
  const fake = turningClock(20);
  const clock = unattached(fake);
  const sluice = new SluiceHandles({
    port: await openBroker({ log: new MemoryLog(), clock }),
    clock,
  });
  const mail = await sluice.queue<number>("mail");
  const signals: AbortSignal[] = [];
  const worker = mail.work((_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  await mail.add(1);
  await turns(20);
  const closed = worker.close();
  await turns(20);
  await fake.advance(CLOSE_TIMEOUT_MS - 1);
  assert.equal(signals[0]?.aborted, false);
  await fake.advance(1);
  await closed;
  assert.equal(signals[0]?.aborted, true);
  await sluice.close();
});
