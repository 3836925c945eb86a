import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Grant, type RunningServer, serve } from "@sluice/server";
import { receiver } from "@sluice/server/testing/loopback";
import { call as callServer } from "@sluice/server/testing/start";
import { eventWebhooks, verifyWebhook } from "../webhooks.ts";

interface Started {
  readonly broker: LocalBroker;
  readonly server: RunningServer;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests.
  call(line: string, body?: unknown, key?: string): Promise<{ status: number; body: any }>;
  close(): Promise<void>;
}

/** A broker, and the servers before it: they are closed first. */
interface Stage {
  readonly broker: LocalBroker;
  readonly servers: RunningServer[];
}

async function start(
  { broker, servers }: Stage,
  hosts: readonly string[],
  keys: boolean = false,
): Promise<Started> {
  const webhooks = eventWebhooks({ hosts });
  const server = await serve({ broker, keys, port: 0, log: "silent", webhooks });
  servers.push(server);
  return {
    broker,
    server,
    close: () => server.close(),
    call: (line, body, key) => callServer(server.address, line, { body, key }),
  };
}

async function open(t: TestContext): Promise<Stage> {
  const broker = await openBroker({ log: new MemoryLog() });
  const servers: RunningServer[] = [];
  t.after(async () => {
    for (const server of servers) await server.close();
    await broker.close();
  });
  return { broker, servers };
}

/** Adds a job and fails it for good; answers its id. */
async function kill(broker: LocalBroker, queue: string): Promise<string> {
  await broker.setQueue(queue, {});
  await broker.add(queue, [{ payload: Buffer.from("1") }]);
  const [job] = await broker.lease(queue, { max: 1, worker: "w" });
  await broker.nack([{ lease: job!.lease, error: "boom", unrecoverable: true }]);
  return job!.id;
}

async function finish(broker: LocalBroker, queue: string): Promise<string> {
  await broker.add(queue, [{ payload: Buffer.from("1") }]);
  const [job] = await broker.lease(queue, { max: 1, worker: "w" });
  await broker.ack([{ lease: job!.lease, result: Buffer.from('"done"') }]);
  return job!.id;
}

test("a webhook is called for the events and queues that it names, signed", async (t) => {
  const to = await receiver(t);
  const { broker, call } = await start(await open(t), [to.host]);
  const dead = (await call("POST /v1/webhooks", { url: to.url, queues: ["mail*"] })).body;
  const asked = { url: to.url, events: ["ended"], states: ["finished"], queues: ["pay"] };
  const finished = (await call("POST /v1/webhooks", asked)).body;
  await kill(broker, "other");
  const id = await kill(broker, "mail");
  const first = await to.next();
  verifyWebhook(first.headers, first.body, dead.secret);
  assert.throws(() => verifyWebhook(first.headers, first.body, finished.secret));
  assert.equal(first.message.type, "dead");
  const { event, queue, id: told, dlq, error } = first.message.data;
  assert.deepEqual([event, queue, told, dlq, error], ["dead", "mail", id, "mail.dlq", "boom"]);
  await kill(broker, "pay");
  const done = await finish(broker, "pay");
  const second = await to.next();
  verifyWebhook(second.headers, second.body, finished.secret);
  const { data } = second.message;
  assert.deepEqual([data.event, data.id, data.state], ["ended", done, "finished"]);
  assert.equal(data.result, undefined, "results can be asked for");
  assert.equal(to.count, 2);
});

test("ends while the server was down are sent when it is back, and none twice", async (t) => {
  const to = await receiver(t);
  const stage = await open(t);
  const { broker } = stage;
  const first = await start(stage, [to.host]);
  await kill(broker, "mail");
  await first.call("POST /v1/webhooks", { url: to.url, events: ["dead", "ended"] });
  const before = await kill(broker, "mail");
  assert.equal((await to.next()).message.data.id, before);
  await first.close();
  const down = await kill(broker, "mail");
  const ended = await finish(broker, "mail");
  await start(stage, [to.host]);
  const after = [(await to.next()).message.data, (await to.next()).message.data];
  const told = after.map(({ event, id, queue }) => [event, id, queue]);
  const byName = (a: string[], b: string[]) => (a[0]! < b[0]! ? -1 : 1);
  assert.deepEqual(told.sort(byName), [
    ["dead", down, "mail"],
    ["ended", ended, "mail"],
  ]);
  const last = await kill(broker, "mail");
  assert.equal((await to.next()).message.data.id, last);
  assert.equal(to.count, 4, "not what died before it was made, and nothing twice");
});

test("what happens to the messages themselves is sent to none", async (t) => {
  const to = await receiver(t);
  const { broker, call } = await start(await open(t), [to.host]);
  await call("POST /v1/webhooks", { url: to.url, events: ["added", "leased", "ended", "queue"] });
  await broker.setQueue("q", {});
  await finish(broker, "q");
  const seen: string[] = [];
  while (seen.length < 4) seen.push((await to.next()).message.type);
  assert.deepEqual(seen.toSorted(), ["added", "ended", "leased", "queue"]);
  const messages = await broker.countJobs({ queues: ["sluice-webhooks*"] });
  assert.equal(messages.count, 4);
});

test("a test message shows whether the address answers; deleted webhooks get none", async (t) => {
  const to = await receiver(t);
  const { broker, call } = await start(await open(t), [to.host]);
  const { id, secret } = (await call("POST /v1/webhooks", { url: to.url, name: "pager" })).body;
  const { job } = (await call(`POST /v1/webhooks/${id}/test`)).body;
  const { headers, body, message } = await to.next();
  verifyWebhook(headers, body, secret);
  assert.equal(message.type, "test");
  assert.equal((await broker.ended(job)).state, "finished");
  const { items } = (await call("GET /v1/webhooks")).body;
  assert.deepEqual([items.length, items[0].name, items[0].secret], [1, "pager", undefined]);
  assert.equal((await call(`DELETE /v1/webhooks/${id}`)).status, 204);
  assert.equal((await call(`POST /v1/webhooks/${id}/test`)).body.error.code, "NOT_FOUND");
  await kill(broker, "mail");
  assert.equal(to.count, 1);
});

test("addresses that are not public are refused, and fields that are wrong", async (t) => {
  const { call } = await start(await open(t), []);
  for (const [body, field] of [
    [{ url: "http://127.0.0.1/" }, "url"],
    [{ url: "http://169.254.169.254/latest" }, "url"],
    [{ url: "http://[::ffff:127.0.0.1]/" }, "url"],
    [{ url: "https://example.com:22/" }, "url"],
    [{ url: "https://a:b@example.com/" }, "url"],
    [{ url: "file:///etc/passwd" }, "url"],
    [{ url: "https://example.com/", queues: [] }, "queues"],
  ] as const) {
    const { status, body: answer } = await call("POST /v1/webhooks", body);
    assert.deepEqual([status, answer.error.details.field], [400, field], JSON.stringify(body));
  }
});

test("a key makes webhooks for the queues that it administers, and sees only these", async (t) => {
  const { call, server } = await start(await open(t), [], true);
  const root = (await server.firstKey)!.key;
  const admin = { action: "admin", on: "acme.*" } as const;
  const { key: acme } = await server.keys.create({ name: "acme", grants: [admin] });
  const { key: viewer } = await server.keys.create({ name: "v", role: "viewer" });
  const url = "https://example.com/hook";
  const own = await call("POST /v1/webhooks", { url, queues: ["acme.mail"] }, acme);
  assert.equal(own.status, 201);
  const all = await call("POST /v1/webhooks", { url }, acme);
  assert.deepEqual([all.status, all.body.error.details.on], [403, "*"]);
  assert.equal((await call("POST /v1/webhooks", { url }, viewer)).status, 403);
  const { id } = (await call("POST /v1/webhooks", { url }, root)).body;
  const seen = (await call("GET /v1/webhooks", undefined, acme)).body.items;
  assert.deepEqual([seen.length, seen[0].id], [1, own.body.id]);
  assert.equal((await call(`DELETE /v1/webhooks/${id}`, undefined, acme)).status, 404);
  assert.equal((await call("GET /v1/webhooks", undefined, root)).body.items.length, 2);
});

test("what an operator puts into the queue of messages is neither signed nor sent", async (t) => {
  const to = await receiver(t);
  const { broker, call, server } = await start(await open(t), [to.host], true);
  const key = (await server.firstKey)!.key;
  const { id } = (await call("POST /v1/webhooks", { url: to.url }, key)).body;
  const { key: operator } = await server.keys.create({ name: "o", role: "operator" });
  const { job } = (await call(`POST /v1/webhooks/${id}/test`, undefined, key)).body;
  await to.next();
  const real = (await call(`GET /v1/jobs/${job}`, undefined, operator)).body.payload;
  const { seal: _, ...bare } = real;
  for (const payload of [bare, { ...real, type: "dead" }, { ...real, url: `${to.url}/other` }]) {
    const line = "POST /v1/queues/sluice-webhooks/jobs";
    const { body } = await call(line, { payload }, operator);
    const { state, error } = await broker.ended(body.id);
    assert.notEqual(state, "finished");
    assert.match(String(error), /was not made by this server/);
  }
  assert.equal(to.count, 1);
});

test("neither a viewer of all jobs nor the audit log sees the path of an address", async (t) => {
  const to = await receiver(t);
  const { call, server } = await start(await open(t), [to.host], true);
  const key = (await server.firstKey)!.key;
  const { id } = (await call("POST /v1/webhooks", { url: to.url }, key)).body;
  const { job } = (await call(`POST /v1/webhooks/${id}/test`, undefined, key)).body;
  await to.next();
  const { key: viewer } = await server.keys.create({ name: "v", role: "viewer" });
  const seen = await call(`GET /v1/jobs/${job}`, undefined, viewer);
  assert.equal(seen.body.payload.signer, id);
  assert.doesNotMatch(JSON.stringify(seen.body), /\/hook/);
  const audit = await call("GET /v1/audit", undefined, key);
  assert.match(JSON.stringify(audit.body), /createWebhook/);
  assert.doesNotMatch(JSON.stringify(audit.body), /\/hook/);
});

test("a webhook stops while the key that made it lacks the right to make it", async (t) => {
  const to = await receiver(t);
  const { broker, call, server } = await start(await open(t), [to.host], true);
  const root = (await server.firstKey)!.key;
  const admin: Grant[] = [{ action: "admin", on: "mail" }];
  const maker = await server.keys.create({ name: "m", grants: admin });
  const asked = { url: to.url, queues: ["mail"] };
  const { id } = (await call("POST /v1/webhooks", asked, maker.key)).body;
  const listed = async () => (await call("GET /v1/webhooks", undefined, root)).body.items[0];
  assert.equal((await listed()).stopped, undefined);
  await server.keys.set(maker.id, { grants: [{ action: "view", on: "mail" }] });
  const lost = `the key that made it, ${maker.id}, no longer has admin on mail`;
  assert.equal((await listed()).stopped, lost);
  const refused = await call(`POST /v1/webhooks/${id}/test`, undefined, root);
  assert.deepEqual([refused.status, refused.body.error.code], [409, "CONFLICT"]);
  await kill(broker, "mail");
  await server.keys.set(maker.id, { grants: admin });
  const told = await kill(broker, "mail");
  assert.equal((await to.next()).message.data.id, told, "nothing of the time in which it stood");
  await server.keys.revoke(maker.id);
  assert.match((await listed()).stopped, /was revoked or has expired/);
  await kill(broker, "mail");
  assert.equal(to.count, 1);
});

test("messages to a dead receiver are bounded; more are dropped and counted", async (t) => {
  const [dead, living] = [await receiver(t), await receiver(t)];
  dead.status = 500;
  const stage = await open(t);
  const server = await start(stage, [dead.host, living.host]);
  const { broker, call } = server;
  const first = (await call("POST /v1/webhooks", { url: dead.url })).body.id;
  const second = (await call("POST /v1/webhooks", { url: living.url })).body.id;
  await broker.setQueue("sluice-webhooks", { capacity: { perLane: 2 } });
  const retried = broker.events({ events: ["retried"] });
  await kill(broker, "mail");
  await retried.next();
  await retried.return?.();
  const gate = await broker.gate(`sluice-webhooks.receiver:${first}:${dead.host}`);
  assert.match(String(gate.cooldown?.reason), /^failure, step 1 of/);
  for (let i = 0; i < 5; i++) await kill(broker, "mail");
  for (let i = 0; i < 6; i++) await living.next();
  const counts = async (started: Started): Promise<(number | undefined)[]> => {
    const { items } = (await started.call("GET /v1/webhooks")).body;
    const of = new Map<string, number | undefined>();
    for (const { id, dropped } of items) of.set(id, dropped?.count);
    return [of.get(first), of.get(second)];
  };
  assert.deepEqual(await counts(server), [3, undefined]);
  assert.equal(dead.count, 1, "it is left alone for a while");
  await server.close();
  const again = await start(stage, [dead.host, living.host]);
  assert.deepEqual(await counts(again), [3, undefined], "kept over a restart");
});
