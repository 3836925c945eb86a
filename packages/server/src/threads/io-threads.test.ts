import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { connectBroker } from "@sluice/client/remote";
import { dialWs } from "@sluice/client/ws";
import type { LeasedJob } from "@sluice/protocol";
import { turns } from "@sluice/protocol/testing";
import { STUCK_MS } from "../limits.ts";
import { Certificates } from "../testing/certificates.ts";
import { Cutter } from "../testing/cutter.ts";
import { call, payload, type StartOptions, start } from "../testing/start.ts";
import { IoThreads } from "./io-threads.ts";

const WITHIN = { timeout: 30_000 };

/** The threads that are started from now on. */
function threadsOf(t: TestContext): Worker[] {
  const threads: Worker[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  process.on("worker", note);
  t.after(() => process.off("worker", note));
  return threads;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turns(1);
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

const threaded = (t: TestContext, options: StartOptions = {}) =>
  start(t, { queues: ["q"], threads: 3, ...options });

test("threads serve HTTP and the stream on one port", WITHIN, async (t) => {
  const threads = threadsOf(t);
  const { server } = await threaded(t);
  assert.equal(threads.length, 2);
  const clients = await Promise.all(
    Array.from({ length: 12 }, () => connectBroker(server.address)),
  );
  await Promise.all(clients.map((client) => client.add("q", [{ payload }])));
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => call(server.address, "POST /v1/queues/q/lease", LEASE)),
  );
  assert.equal(answers.flatMap(({ body }) => body.jobs).length, 12);
  await Promise.all(clients.map((client) => client.close()));
});

const LEASE = { body: { max: 1 } };

test("a payload and an answer of megabytes come through whole", WITHIN, async (t) => {
  const { server, broker } = await threaded(t);
  const large = new Uint8Array(1024 * 1024).map((_, index) => index * 31);
  const client = await connectBroker(server.address);
  await client.add(
    "q",
    Array.from({ length: 12 }, () => ({ payload: large })),
  );
  const over = await client.lease("q", { max: 6 });
  for (const job of over) assert.deepEqual(Buffer.compare(job.payload, large), 0);
  const { body } = await call(server.address, "POST /v1/queues/q/lease", { body: { max: 6 } });
  assert.equal(body.jobs.length, 6);
  for (const job of body.jobs) {
    assert.equal(Buffer.compare(Buffer.from(job.payloadBase64, "base64"), large), 0);
  }
  assert.equal((await broker.queue("q")).stats.running, 12);
  await client.close();
});

test("a worker resumes its session whichever thread gets its connection", WITHIN, async (t) => {
  const { server, broker } = await threaded(t);
  const cutter = await Cutter.open(server.port);
  t.after(() => cutter[Symbol.asyncDispose]());
  const client = await connectBroker(cutter.url);
  const jobs: LeasedJob[] = [];
  await client.consume("q", { worker: "w", credits: 100 }, (more) => jobs.push(...more));
  for (let round = 1; round <= 8; round++) {
    await broker.add("q", [{ payload }]);
    await until(() => jobs.length === round);
    cutter.cut();
    assert.deepEqual(await client.ack([{ lease: jobs.at(-1)!.lease }]), [{ ok: true }]);
  }
  assert.equal((await broker.queue("q")).stats.retried, 0);
  await client.close();
});

test("connections are counted over all threads", WITHIN, async (t) => {
  const { server } = await threaded(t, { limits: { connectionsMax: 5, idleTimeout: "60s" } });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => connected(server.port)));
  let closed = 0;
  for (const socket of sockets) socket.on("close", () => closed++).resume();
  await until(() => closed === 15);
  const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded);
  open[0]!.write("GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
  const [metrics] = await once(open[0]!, "data");
  assert.match(String(metrics), /^http_connections 5$/m);
  open[0]!.destroy();
  await until(async () => (await call(server.address, "GET /healthz").catch(() => 0)) !== 0);
  for (const socket of sockets) socket.destroy();
});

test("a key that is revoked ends waiting polls at once, over every thread", WITHIN, async (t) => {
  const { server } = await threaded(t, { keys: true });
  const root = (await server.firstKey)!.key;
  const created = await call(server.address, "POST /v1/keys", {
    key: root,
    body: { name: "w", grants: [{ action: "consume", on: "q" }] },
  });
  const { key, id } = created.body;
  const clients = await Promise.all(
    Array.from({ length: 6 }, () => connectBroker(server.address, { apiKey: key })),
  );
  const polls = clients.map((client) => client.lease("q", { max: 1, wait: "60s" }));
  const posts = Array.from({ length: 6 }, () =>
    call(server.address, "POST /v1/queues/q/lease", { key, body: { max: 1, wait: "60s" } }),
  );
  const refused = polls.map((poll) => assert.rejects(poll, { code: "UNAUTHORIZED" }));
  // Behind the poll of the same connection, so that it has begun to wait.
  await Promise.all(clients.map((client) => client.queues()));
  await call(server.address, `DELETE /v1/keys/${id}`, { key: root });
  await Promise.all(refused);
  for (const { status } of await Promise.all(posts)) assert.equal(status, 401);
  await Promise.all(clients.map((client) => client.close({ timeout: 0 })));
});

test("an answer of megabytes waits for a client that reads late", WITHIN, async (t) => {
  const { server, broker } = await threaded(t);
  const socket = await connected(server.port);
  const large = new Uint8Array(1024 * 1024);
  await broker.add(
    "q",
    Array.from({ length: 16 }, () => ({ payload: large })),
  );
  const body = JSON.stringify({ max: 16 });
  const request = `POST /v1/queues/q/lease HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  socket.pause();
  socket.write(request);
  await until(async () => (await broker.queue("q")).stats.running === 16);
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length)).resume();
  await until(() => bytes > 16 * large.length);
  socket.destroy();
});

test("an idle connection is closed when its time is over", WITHIN, async (t) => {
  const { server } = await threaded(t, { limits: { idleTimeout: 50 } });
  const socket = await connected(server.port);
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  await once(socket.resume(), "close");
});

test("one thread has all connections where a port cannot be shared", WITHIN, async (t) => {
  const threads = threadsOf(t);
  const refuse = (worker: Worker): void => {
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message, ...rest) => {
      if (message.at?.isShared !== true) return post(message, ...(rest as []));
      const refused = { kind: "refused", code: "ENOTSUP", message: "not supported" };
      setImmediate(() => worker.emit("message", refused));
    };
  };
  process.on("worker", refuse);
  t.after(() => process.off("worker", refuse));
  const { server } = await threaded(t);
  assert.equal(threads.length, 2, "the first was ended, and another started");
  assert.equal((await call(server.address, "GET /healthz")).status, 200);
  const client = await connectBroker(server.address);
  await client.close();
});

test("TLS is agreed on in the threads, and clients show their certificates", WITHIN, async (t) => {
  const certificates = new Certificates(t);
  const ca = certificates.authority("ca").cert;
  const { server } = await threaded(t, { tls: { ...certificates.signed("server", "ca"), ca } });
  const dial = dialWs({ ca, ...certificates.signed("client", "ca") });
  const clients = await Promise.all(
    Array.from({ length: 6 }, () => connectBroker(server.address, { dial })),
  );
  const added = await Promise.all(clients.map((client) => client.add("q", [{ payload }])));
  assert.ok(added.every(([outcome]) => outcome?.ok !== undefined));
  await assert.rejects(connectBroker(server.address, { dial: dialWs({ ca }) }));
  await Promise.all(clients.map((client) => client.close()));
});

test("a port that is in use is refused, though threads share theirs", WITHIN, async (t) => {
  const { server } = await threaded(t);
  await assert.rejects(threaded(t, { port: server.port }), { code: "CONFLICT" });
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as { port: number };
  for (const threads of [2, 3]) {
    await assert.rejects(threaded(t, { port, threads }), { code: "CONFLICT" });
  }
});

test("a request that is under way is answered before the server closes", WITHIN, async (t) => {
  const { server } = await threaded(t);
  const rests = await connected(server.port);
  rests.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(rests, "data");
  const gone = once(rests.resume(), "close");
  const poll = call(server.address, "POST /v1/queues/q/lease", { body: { max: 1, wait: "60s" } });
  const client = await connectBroker(server.address);
  await client.queues();
  await server.close();
  assert.equal((await poll).status, 200);
  await gone;
  await assert.rejects(connected(server.port));
  await client.close({ timeout: 0 });
});

test("a thread that does nothing any more makes the server unready", WITHIN, async (t) => {
  const all = threadsOf(t);
  const { threads } = await IoThreads.open({
    data: { tls: undefined, connectionsMax: 1 },
    ...{ count: 2, host: "127.0.0.1", port: 0, onConnection: () => {}, onWarning: () => {} },
  });
  t.after(() => threads.end());
  const answered = () => Promise.all(all.map((worker) => once(worker, "message")));
  assert.equal(threads.trouble(0), undefined);
  await answered();
  assert.equal(threads.trouble(2 * STUCK_MS), undefined, "it was not asked in between");
  await answered();
  all[1]!.postMessage = () => {};
  assert.equal(threads.trouble(3 * STUCK_MS), undefined);
  await once(all[0]!, "message");
  assert.equal(
    threads.trouble(5 * STUCK_MS),
    "thread 2, which holds connections, has not answered for 20 s",
  );
});

test("a thread that does nothing any more does not keep the server open", WITHIN, async (t) => {
  const threads = threadsOf(t);
  const { server } = await threaded(t, { threads: 2 });
  const socket = await connected(server.port);
  await turns(20);
  threads[0]!.postMessage = () => {};
  await server.close({ timeout: 10 });
  socket.destroy();
});

test("the failure of a thread is reported, and its connections are over", WITHIN, async (t) => {
  const threads = threadsOf(t);
  const { server } = await threaded(t, { threads: 2 });
  const sockets = await Promise.all(Array.from({ length: 5 }, () => connected(server.port)));
  // By a reset, which is an error too.
  const closed = sockets.map(
    (socket) => new Promise((resolve) => socket.resume().once("close", resolve)),
  );
  // A packet that is cut off.
  threads[0]!.postMessage(Uint8Array.of(1));
  const error = await server.failed;
  assert.match(error.message, /^thread 1, which holds connections, has failed \(/);
  await Promise.all(closed);
  await server.close();
});

test("a server without threads reports no failure, and answers as ever", WITHIN, async (t) => {
  const { server } = await start(t, { threads: 1 });
  const [response] = await once(get(`${server.address}/healthz`), "response");
  assert.equal(response.statusCode, 200);
  response.resume();
});
