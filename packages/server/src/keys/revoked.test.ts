import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import { type Broker, FakeClock, SystemClock } from "@sluice/protocol";
import { memoryBroker, payload, start } from "../testing/start.ts";
import type { Grant } from "./grant.ts";
import { guard } from "./guard.ts";
import { KeyRing, type KeyRingOptions } from "./key-ring.ts";
import { ANYONE } from "./principal.ts";
import { KEYS_STORE } from "./rights.ts";

const CONSUME: Grant[] = [
  { action: "consume", on: "q" },
  { action: "produce", on: "q" },
];

async function open(t: TestContext, options: Partial<KeyRingOptions> = {}) {
  const broker = await memoryBroker(t, "q");
  const ring = await KeyRing.open(broker, { clock: new SystemClock(), ...options });
  return { broker, ring };
}

async function untilWaiting(broker: Broker, count: number): Promise<void> {
  while ((await broker.queue("q")).stats.freeWorkers !== count) await new Promise(setImmediate);
}

const refused = { code: "UNAUTHORIZED" };

test("revoking a key ends its waiting polls at once, and none gets a job", async (t) => {
  const { broker, call, server } = await start(t, { queues: ["q"], keys: true });
  const { key: root } = (await server.firstKey)!;
  const { body } = await call("POST /v1/keys", { key: root, body: { grants: CONSUME } });
  const polls = Array.from({ length: 20 }, () =>
    call("POST /v1/queues/q/lease", { key: body.key, body: { wait: 60_000 } }),
  );
  await untilWaiting(broker, 20);
  await call(`DELETE /v1/keys/${body.id}`, { key: root });
  const answers = await Promise.all(polls);
  assert.ok(answers.every(({ status }) => status === 401));
  await untilWaiting(broker, 0);
  await broker.add("q", [{ payload }]);
  assert.equal((await broker.queue("q")).stats.waiting, 1);
});

test("revoking a key ends its readers of events while nothing happens", async (t) => {
  const { broker, ring } = await open(t);
  const { key, id } = await ring.create({ grants: CONSUME }, ANYONE);
  const guarded = guard(broker, ring.verify(key));
  const readers = [guarded.events(), guarded.events({ queue: "q" })];
  const ends = readers.map((reader) => assert.rejects(reader.next(), refused));
  await ring.revoke(id, ANYONE);
  await Promise.all(ends);
  for (const reader of readers)
    assert.equal((await reader.next().catch(() => ({ done: true }))).done, true);
});

test("a reader of a queue it may not see is refused, also when the right is lost", async (t) => {
  const { broker, ring } = await open(t);
  await broker.setQueue("other", {});
  const { key, id } = await ring.create({ grants: CONSUME }, ANYONE);
  const guarded = guard(broker, ring.verify(key));
  assert.throws(() => guarded.events({ queue: "other" }), { code: "FORBIDDEN" });
  assert.throws(() => guarded.events({ queue: "none" }), { code: "FORBIDDEN" });
  const ended = assert.rejects(guarded.events({ queue: "q" }).next(), { code: "FORBIDDEN" });
  const all = guarded.events();
  const next = all.next();
  await ring.set(id, { grants: [{ action: "consume", on: "other" }] }, ANYONE);
  await ended;
  await broker.add("other", [{ payload }]);
  assert.equal((await next).done, false, "a reader of all queues hears of those it still may see");
  await all.return?.();
});

test("a key that loses a grant loses its waiting polls, and none gets a job", async (t) => {
  const { broker, call, server } = await start(t, { queues: ["q"], keys: true });
  const { key, id } = await server.keys.create({ grants: CONSUME });
  const poll = () => call("POST /v1/queues/q/lease", { key, body: { wait: 60_000 } });
  const polls = [poll(), poll(), poll()];
  await untilWaiting(broker, 3);
  await server.keys.set(id, { grants: [{ action: "consume", on: "other" }] });
  for (const { status } of await Promise.all(polls)) assert.equal(status, 403);
  await untilWaiting(broker, 0);
  assert.equal((await poll()).status, 403);
  await server.keys.set(id, { grants: CONSUME });
  const again = poll();
  await untilWaiting(broker, 1);
  await broker.add("q", [{ payload }]);
  assert.equal((await again).body.jobs.length, 1, "and has it again when it is given back");
});

test("a consumer and a call on an open stream are held to grants that have changed", async (t) => {
  const { server } = await start(t, { queues: ["q"], keys: true });
  const { key: apiKey, id } = await server.keys.create({ grants: CONSUME });
  const remote = await connectBroker(server.address, { apiKey });
  t.after(() => remote.close());
  let delivered = 0;
  const consumer = await remote.consume("q", { worker: "w", credits: 9 }, (jobs) => {
    delivered += jobs.length;
  });
  await server.keys.set(id, { grants: [{ action: "produce", on: "q" }] });
  await consumer.over;
  const [added] = await remote.add("q", [{ payload }]);
  assert.ok(added?.ok, "what it still may");
  await assert.rejects(remote.lease("q", { max: 1 }), { code: "FORBIDDEN" });
  assert.equal(delivered, 0);
});

test("waiting for an end over HTTP answers with it, and ends with the key", async (t) => {
  const { broker, call, server } = await start(t, { queues: ["q"], keys: true });
  const { key, id } = await server.keys.create({ grants: CONSUME });
  const [added, other] = await broker.add("q", [{ payload, group: "g" }, { payload }]);
  const wait = (path: string) => call(`GET /v1/${path}/end?wait=60000`, { key });
  const job = wait(`jobs/${added!.ok!.id}`);
  const group = wait("groups/q/g");
  const [first] = await broker.lease("q", { max: 1 });
  await broker.ack([{ lease: first!.lease, result: payload }]);
  assert.deepEqual((await job).body.result, 1);
  assert.equal((await group).body.ended, true);
  const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
  const ended = broker.ended.bind(broker);
  broker.ended = (job, options) => {
    resolve();
    return ended(job, options);
  };
  const waiting = wait(`jobs/${other!.ok!.id}`);
  await isWaiting;
  await server.keys.revoke(id);
  assert.equal((await waiting).status, 401);
});

test("every call that waits ends when its key is revoked", async (t) => {
  const { broker, ring } = await open(t);
  await broker.setQueue("full", { capacity: { jobs: 1 }, onFull: "wait" });
  await broker.add("full", [{ payload }]);
  const [added] = await broker.add("q", [{ payload, delayMs: 1e9, group: "g" }]);
  const grants = [...CONSUME, { action: "produce", on: "full" }];
  const { key, id } = await ring.create({ grants }, ANYONE);
  const guarded = guard(broker, ring.verify(key));
  const consumer = await guarded.consume("q", { worker: "w", credits: 1 }, () => {});
  const waiting = [
    guarded.lease("q", { max: 1, wait: 60_000 }),
    guarded.add("full", [{ payload }]),
    guarded.ended(added!.ok!.id),
    guarded.groupEnded("q/g"),
  ];
  const ended = Promise.all(waiting.map((call) => assert.rejects(call, refused)));
  await untilWaiting(broker, 2);
  await ring.revoke(id, ANYONE);
  await Promise.all([ended, consumer.over]);
  await broker.lease("full", { max: 1 });
  assert.equal((await broker.queue("full")).stats.added, 1, "the add was withdrawn");
});

test("a key that expires, or loses a grant, ends its waiting polls", async (t) => {
  const clock = new FakeClock();
  const { broker, ring } = await open(t, { clock });
  const made = await ring.create({ grants: CONSUME, expiresAt: clock.now() + 50 }, ANYONE);
  const poll = guard(broker, ring.verify(made.key)).lease("q", { max: 1, wait: 60_000 });
  const ended = assert.rejects(poll, refused);
  await untilWaiting(broker, 1);
  await clock.advance(50);
  await ended;
});

test("a grant that another node takes away ends waiting polls here", async (t) => {
  let reload = async (): Promise<void> => {};
  const peers = {
    changed: async () => {},
    isFirst: async () => true,
    onChange: (given: () => Promise<void>) => {
      reload = given;
    },
  };
  const { broker, ring } = await open(t, { peers });
  const made = await ring.create({ grants: CONSUME }, ANYONE);
  const poll = guard(broker, ring.verify(made.key)).lease("q", { max: 1, wait: 60_000 });
  const ended = assert.rejects(poll, { code: "FORBIDDEN" });
  await untilWaiting(broker, 1);
  const [record] = await broker.storeGet(KEYS_STORE, [made.id]);
  const value = { ...(record as object), grants: [{ action: "consume", on: "other" }] };
  await broker.storeWrite(KEYS_STORE, [{ key: made.id, value }]);
  await reload();
  await ended;
  await untilWaiting(broker, 0);
});

test("a call that has ended watches its key no longer", async (t) => {
  const { broker, ring } = await open(t);
  const { key } = await ring.create({ grants: CONSUME, expiresAt: Date.now() + 1e12 }, ANYONE);
  const principal = ring.verify(key);
  let watching = 0;
  const counted = {
    ...principal,
    watch: (look: () => void) => {
      watching++;
      const leave = principal.watch!(look);
      return () => {
        watching--;
        leave();
      };
    },
  };
  const guarded = guard(broker, counted);
  await guarded.add("q", [{ payload }]);
  await guarded.lease("q", { max: 1 });
  const consumer = await guarded.consume("q", { worker: "w", credits: 1 }, () => {});
  await assert.rejects(guarded.lease("none", { max: 1 }), { code: "FORBIDDEN" });
  assert.equal(watching, 1);
  await consumer.stop();
  await consumer.over;
  assert.equal(watching, 0);
});
