import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import type { FakeClock } from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { Broker, LeasedJob } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { CLIENT_BOUNDS } from "../limits.ts";
import { Cutter } from "../testing/cutter.ts";
import { type Served, serve } from "../testing/stream-server.ts";

interface Scene {
  readonly broker: LocalBroker;
  readonly served: Served;
  readonly cutter: Cutter;
  readonly client: Broker;
  /** The time by which the server lets sessions end. */
  readonly clock: FakeClock;
}

const PROMPT = { retry: { attempts: 3, min: 0, max: 0, jitter: 0 } } as const;

async function scene(t: TestContext): Promise<Scene> {
  const clock = turningClock(3);
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", PROMPT);
  const served = await serve(broker, { clock });
  const cutter = await Cutter.open(served.port);
  const client = await connectBroker(cutter.url);
  t.after(async () => {
    await client.close();
    await cutter[Symbol.asyncDispose]();
    await served.close();
    await broker.close();
  });
  return { broker, served, cutter, client, clock };
}

const job = (text: string) => ({ payload: new TextEncoder().encode(text) });

/** Resolves when `holds` answers true, however long the event loop takes. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turns(1);
}

interface Inbox {
  readonly jobs: LeasedJob[];
  holds(count: number): Promise<void>;
}

async function consume(client: Broker, credits = 10): Promise<Inbox> {
  const jobs: LeasedJob[] = [];
  await client.consume("q", { worker: "w", credits }, (more) => jobs.push(...more));
  return { jobs, holds: (count) => until(() => jobs.length >= count) };
}

const running = async (broker: Broker): Promise<number> => (await broker.queue("q")).stats.running;

test("a session resumes after a cut: leases stay and are acked over the new link", async (t) => {
  const { broker, client, cutter } = await scene(t);
  const inbox = await consume(client);
  await client.add("q", [job("a"), job("b")]);
  await inbox.holds(2);
  cutter.cut();
  const [first, second] = inbox.jobs;
  const outcomes = await client.ack([{ lease: first!.lease }, { lease: second!.lease }]);
  assert.deepEqual(outcomes, [{ ok: true }, { ok: true }]);
  const { stats } = await broker.queue("q");
  assert.deepEqual([stats.finished, stats.retried, stats.added], [2, 0, 2]);
  await client.add("q", [job("c")]);
  await inbox.holds(3);
});

test("adds that were under way when the connection was cut are answered, none twice", async (t) => {
  const { broker, client, cutter } = await scene(t);
  const adds: Promise<unknown>[] = [];
  for (let i = 0; i < 200; i++) {
    adds.push(client.add("q", [job(`${i}`)]));
    if (i % 20 === 7) cutter.cut();
    await turns(1);
  }
  await Promise.all(adds);
  assert.equal((await broker.queue("q")).stats.added, 200);
});

test("a worker that does not come back loses its leases and an attempt", async (t) => {
  const { broker, served, client, cutter, clock } = await scene(t);
  const inbox = await consume(client);
  await client.add("q", [job("a")]);
  await inbox.holds(1);
  cutter.isOpen = false;
  cutter.cut();
  await until(() => served.stream.connections === 0);
  await clock.advance(1999);
  assert.equal(await running(broker), 1, "while it may come back");
  await clock.advance(1);
  await until(async () => (await running(broker)) === 0);
  const [again] = await broker.lease("q", { max: 1, wait: 1000 });
  assert.equal(again?.attempt, 1);
  assert.equal(served.stream.sessions, 0);
  cutter.isOpen = true;
  const [late] = await client.ack([{ lease: inbox.jobs[0]!.lease }]);
  assert.equal(late?.error?.code, "LEASE_LOST");
});

test("a job whose workers die again and again ends in the dead letter queue", async (t) => {
  const { broker, served, cutter, client, clock } = await scene(t);
  await broker.add("q", [job("killer")]);
  const inbox = await consume(client);
  for (let death = 1; death <= 3; death++) {
    await inbox.holds(death);
    cutter.isOpen = false;
    cutter.cut();
    await until(() => served.stream.connections === 0);
    await clock.advance(2000);
    await until(async () => (await running(broker)) === 0);
    cutter.isOpen = true;
  }
  const dead = (await broker.jobs("q.dlq")).items[0];
  assert.equal(dead?.error, "the connection to the worker was lost");
});

test("no job goes to a worker that is away", async (t) => {
  const { broker, served, client, cutter } = await scene(t);
  const inbox = await consume(client);
  cutter.isOpen = false;
  cutter.cut();
  await until(() => served.stream.connections === 0);
  await broker.add("q", [job("a")]);
  const [taken] = await broker.lease("q", { max: 1 });
  assert.equal(taken?.attempt, 0);
  assert.equal(inbox.jobs.length, 0);
});

test("a worker that leaves gives its leases back at once and loses no attempt", async (t) => {
  const { broker, served, client } = await scene(t);
  const inbox = await consume(client);
  await client.add("q", [job("a")]);
  await inbox.holds(1);
  await client.close();
  const [again] = await broker.lease("q", { max: 1 });
  assert.equal(again?.attempt, 0);
  assert.equal(served.stream.sessions, 0);
});

test("a server that closes leaves leases alone, for when it is back", async (t) => {
  const { broker, served, client, cutter } = await scene(t);
  const inbox = await consume(client);
  await client.add("q", [job("a")]);
  await inbox.holds(1);
  await served.close();
  assert.equal(await running(broker), 1);
  const again = await serve(broker);
  t.after(() => again.close());
  cutter.target = again.port;
  assert.deepEqual(await client.ack([{ lease: inbox.jobs[0]!.lease }]), [{ ok: true }]);
  await client.add("q", [job("b")]);
  await inbox.holds(2);
});

test("a write whose answer was lost is made again, and done once", async (t) => {
  const { broker, served, client, cutter } = await scene(t);
  const write = broker.storeWrite.bind(broker);
  const ids: unknown[] = [];
  broker.storeWrite = async (store, entries, options) => {
    await write(store, entries, options);
    // The first answer is never given.
    if (ids.push(options?.operationId) === 1) await new Promise(() => {});
  };
  const written = client.storeWrite("s", [{ key: "k", value: 1 }]);
  await until(() => ids.length === 1);
  await write("s", [{ key: "k", value: 2 }]);
  await served.close();
  const again = await serve(broker);
  t.after(() => again.close());
  cutter.target = again.port;
  await written;
  assert.deepEqual(await client.storeGet("s", ["k"]), [2]);
  assert.ok(ids.length === 2 && ids[0] === ids[1]);
});

test("a reader of events gets DISCONNECTED when something may be missing", async (t) => {
  const { broker, served, client, cutter } = await scene(t);
  const events = client.events();
  const first = events.next();
  await client.queues();
  await client.add("q", [job("a")]);
  assert.equal((await first).value?.event, "added");
  await served.close();
  const again = await serve(broker);
  t.after(() => again.close());
  cutter.target = again.port;
  await assert.rejects(events.next(), { code: "DISCONNECTED" });
});

test("many that wait do not keep what they wait for from being read", async (t) => {
  const { client } = await scene(t);
  const inbox = await consume(client);
  const [added] = await client.add("q", [job("a")]);
  await inbox.holds(1);
  const id = added!.ok!.id;
  const ends = Array.from({ length: CLIENT_BOUNDS.waitingMax }, () => client.ended(id));
  await assert.rejects(client.ended(id), { code: "RATE_LIMITED" });
  assert.deepEqual(await client.ack([{ lease: inbox.jobs[0]!.lease }]), [{ ok: true }]);
  await Promise.all(ends);
});
