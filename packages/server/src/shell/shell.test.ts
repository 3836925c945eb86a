import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { parseLimits } from "@sluice/protocol";
import { serve } from "../serve.ts";
import { call, start } from "../testing/start.ts";

/** Sends text as it is and answers all that comes back. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(text);
  return readAll(socket);
}

async function readAll(socket: Socket): Promise<string> {
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => {});
  await once(socket, "close");
  return answer;
}

test("keys: none, a wrong one, a right one", async (t) => {
  const { call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  const none = await call("GET /v1/queues");
  assert.deepEqual([none.status, none.body.error.code], [401, "UNAUTHORIZED"]);
  assert.equal(none.headers.get("www-authenticate"), "Bearer");
  assert.equal((await call("GET /v1/queues", { key: `${key}x` })).status, 401);
  assert.equal((await call("GET /v1/queues", { key })).status, 200);
  for (const line of ["GET /healthz", "GET /readyz", "GET /openapi.json"]) {
    assert.equal((await call(line)).status, 200, line);
  }
});

test("wrong keys are refused for a while after some, right ones never", async (t) => {
  const { call, server } = await start(t, { keys: true, limits: { keyFailuresPerMinute: 3 } });
  const { key } = (await server.firstKey)!;
  const codes: number[] = [];
  for (let i = 0; i < 5; i++) codes.push((await call("GET /v1/queues", { key: "no" })).status);
  assert.deepEqual(codes, [401, 401, 401, 429, 429]);
  assert.equal((await call("GET /v1/queues", { key })).status, 200);
});

test("a key made over HTTP does what it says, until it is revoked", async (t) => {
  const { call, server } = await start(t, { queues: ["orders"], keys: true });
  const { key } = (await server.firstKey)!;
  const grants = [{ action: "produce", on: "orders" }];
  const { body: made } = await call("POST /v1/keys", { key, body: { name: "web", grants } });
  const produce = () =>
    call("POST /v1/queues/orders/jobs", { key: made.key, body: { payload: 1 } });
  assert.equal((await produce()).status, 201);
  const lease = await call("POST /v1/queues/orders/lease", { key: made.key, body: {} });
  assert.deepEqual([lease.status, lease.body.error.code], [403, "FORBIDDEN"]);
  for (const line of ["GET /v1/keys", "GET /metrics", "GET /v1/apps"]) {
    assert.equal((await call(line, { key: made.key })).status, 403, line);
  }
  await call(`DELETE /v1/keys/${made.id}`, { key });
  assert.equal((await produce()).status, 401);
  assert.equal((await call("GET /v1/keys", { key })).body.items.length, 1);
});

test("without keys there are none to manage, and a stranger's page gets nothing", async (t) => {
  const { call, server } = await start(t);
  assert.equal((await call("GET /v1/keys")).body.error.code, "CONFLICT");
  const evil = await call("GET /v1/queues", { headers: { origin: "http://evil.example" } });
  assert.deepEqual([evil.status, evil.body.error.code], [403, "FORBIDDEN"]);
  const rebound = await raw(server.port, "GET /v1/queues HTTP/1.1\r\nhost: evil.example\r\n\r\n");
  assert.match(rebound, /^HTTP\/1.1 403/);
  const none = await raw(server.port, "GET /v1/queues HTTP/1.1\r\n\r\n");
  assert.match(none, /^HTTP\/1.1 403/);
});

test("what upgrades a connection asks the same questions", async (t) => {
  const { server } = await start(t, { keys: true });
  const ask = (headers: Record<string, string>) =>
    server.stream.refuse({ headers } as unknown as IncomingMessage);
  assert.equal(ask({ host: "localhost:7070" }), undefined);
  assert.equal(ask({ host: "localhost", origin: "http://evil.example" })?.status, 403);
  const { key, id } = (await server.firstKey)!;
  const broker = await server.stream.open(key);
  await broker.setQueue("q", {});
  await assert.rejects(server.stream.open(undefined), { code: "UNAUTHORIZED" });
  await call(server.address, `DELETE /v1/keys/${id}`, { key });
  await assert.rejects(broker.queue("q"), { code: "UNAUTHORIZED" }, "revoked while it is open");
});

test("a listed origin may call and gets an access-control-allow-origin header", async (t) => {
  const origin = "https://ops.example.org";
  const { call } = await start(t, { allowOrigins: [origin] });
  const answer = await call("GET /v1/queues", { headers: { origin } });
  assert.equal(answer.headers.get("access-control-allow-origin"), origin);
  const ahead = await call("OPTIONS /v1/queues", { headers: { origin } });
  assert.deepEqual([ahead.status, ahead.headers.get("access-control-allow-origin")], [204, origin]);
  const other = await call("GET /v1/queues", { headers: { origin: "https://evil.example" } });
  assert.equal(other.status, 403);
});

test("a public address is refused without keys, unless one insists", async () => {
  const broker = Promise.reject(new Error("unused"));
  broker.catch(() => {});
  const options = { broker, host: "0.0.0.0", log: "silent" } as const;
  await assert.rejects(serve(options), { code: "INVALID" });
  await (await serve({ ...options, insecure: true })).close();
  await (await serve({ ...options, keys: true })).close();
  await assert.rejects(serve({ ...options, keys: { rootKey: "short" } }), { code: "INVALID" });
  const bogus = { ...options, insecure: true, bogus: 1 };
  await assert.rejects(serve(bogus), /serve.bogus is not a known field; known are broker, /);
});

test("a body is as large as the limit and no larger, whatever it says of itself", async (t) => {
  const { call, server } = await start(t, { queues: ["q"], limits: { bodyBytesMax: 1000 } });
  const bodyOf = (bytes: number) => `{"payload":"${"x".repeat(bytes - 14)}"}`;
  for (const [bytes, status] of [
    [999, 201],
    [1000, 201],
    [1001, 413],
  ] as const) {
    const answer = await call("POST /v1/queues/q/jobs", { body: bodyOf(bytes) });
    assert.equal(answer.status, status, `${bytes} bytes`);
  }
  const chunk = "x".repeat(500);
  const chunked = `1f4\r\n${chunk}\r\n`.repeat(3);
  const head =
    "POST /v1/queues/q/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
  const answer = await raw(
    server.port,
    `${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunked}0\r\n\r\n`,
  );
  assert.match(answer, /^HTTP\/1.1 413/);
});

test("compressed bodies and other kinds of content are refused unread", async (t) => {
  const { call, server } = await start(t, { queues: ["q"] });
  const zeros = Buffer.alloc(16 * 1024 * 1024);
  for (const [encoding, bomb] of [
    ["gzip", gzipSync(zeros)],
    ["br", brotliCompressSync(zeros)],
  ] as const) {
    const response = await fetch(`${server.address}/v1/queues/q/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": encoding },
      body: bomb,
    });
    assert.equal(response.status, 415, encoding);
  }
  const headers = { "content-type": "text/plain" };
  const text = await call("POST /v1/queues/q/jobs", { body: "{}", headers });
  assert.deepEqual([text.status, text.body.error.code], [415, "UNSUPPORTED_MEDIA"]);
});

test("limits the size of headers and answers 400 to input that is not HTTP", async (t) => {
  const { server } = await start(t);
  const long = `x-long: ${"x".repeat(17 * 1024)}`;
  const overflow = await raw(
    server.port,
    `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${long}\r\n\r\n`,
  );
  assert.match(overflow, /^HTTP\/1.1 431/);
  assert.match(await raw(server.port, "EHLO me\r\n\r\n"), /^HTTP\/1.1 400[\s\S]*"code":"INVALID"/);
  const key = "x".repeat(13_000);
  const far = await raw(server.port, `GET /v1/gates/${key} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  assert.match(far, /^HTTP\/1.1 4\d\d/);
  const bad = await raw(server.port, "GET /v1/gates/%zz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  assert.match(bad, /^HTTP\/1.1 400[\s\S]*"code":"INVALID"/);
});

test("what poisons prototypes is refused", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const bodies = ['{"payload":1,"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}'];
  for (const body of bodies) {
    assert.equal((await call("POST /v1/queues/q/jobs", { body })).body.error.code, "INVALID", body);
  }
  assert.equal(({} as { a?: number }).a, undefined);
});

test("disconnects slow clients, which do not delay others", async (t) => {
  const limits = { headersTimeout: 500, requestTimeout: 900 };
  const { call, server } = await start(t, { limits });
  const slow = Array.from({ length: 50 }, () => connect(server.port, "127.0.0.1"));
  const answers = slow.map(readAll);
  for (const [i, socket] of slow.entries()) {
    socket.write("POST /v1/queues/q/jobs HTTP/1.1\r\n");
    // Half of them are slow with their headers, the others with their bodies.
    if (i % 2 === 1) {
      socket.write(
        "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
      );
    }
  }
  assert.equal((await call("GET /healthz")).status, 200);
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1.1 4\d\d|^$/);
});

test("there is a limit to connections", async (t) => {
  const { server } = await start(t, { limits: { connectionsMax: 3 } });
  const open = Array.from({ length: 3 }, () => connect(server.port, "127.0.0.1"));
  await Promise.all(open.map((socket) => once(socket, "connect")));
  const [one] = open;
  one!.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(one!, "data");
  const more = connect(server.port, "127.0.0.1");
  assert.equal(await readAll(more), "", "closed without a word");
  for (const socket of open) socket.destroy();
});

test("a key over its request rate gets 429 with Retry-After", async (t) => {
  const { call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  const grants = [{ action: "admin", on: "*" }];
  const { body } = await call("POST /v1/keys", { key, body: { grants, requestsPerSecond: 1 } });
  assert.equal((await call("GET /v1/queues", { key: body.key })).status, 200);
  const again = await call("GET /v1/queues", { key: body.key });
  assert.deepEqual([again.status, again.body.error.code], [429, "RATE_LIMITED"]);
  assert.equal(again.headers.get("retry-after"), "1");
  assert.equal((await call("GET /v1/queues", { key })).status, 200, "others are not concerned");
});

test("more adds than the server is to take are refused, and the rest goes through", async (t) => {
  const { call, server } = await start(t, { queues: ["q"], limits: { addsPerSecond: 100 } });
  const jobs = Array.from({ length: 50 }, () => ({ payload: 1 }));
  assert.equal((await call("POST /v1/queues/q/jobs", { body: { jobs } })).status, 200);
  const refused = await call("POST /v1/queues/q/jobs", { body: { payload: 1 } });
  assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.ok(refused.body.error.retryAfterMs <= 500);
  assert.equal((await call("GET /v1/queues/q")).status, 200, "other calls are not concerned");
  const stream = await server.stream.open(undefined);
  await assert.rejects(stream.add("q", [{ payload: new Uint8Array(1) }]), { code: "RATE_LIMITED" });
});

test("unknown addresses, and what is wrong with a request, have the same form", async (t) => {
  const { call } = await start(t);
  const asked: [string, number, string, unknown?][] = [
    ["GET /nothing", 404, "NOT_FOUND"],
    ["PATCH /v1/queues", 404, "NOT_FOUND"],
    ["GET /v1/queues/a%20b", 400, "INVALID"],
    ["GET /v1/queues/none", 404, "QUEUE_NOT_FOUND"],
    ["PUT /v1/queues/q", 400, "INVALID", "{"],
    ["PUT /v1/queues/q", 400, "INVALID", []],
    ["POST /v1/ack", 400, "INVALID", { items: 1 }],
    ["POST /v1/ack", 400, "INVALID", {}],
  ];
  for (const [line, status, code, body] of asked) {
    const answer = await call(line, body === undefined ? {} : { body });
    assert.deepEqual([answer.status, answer.body.error.code], [status, code], line);
    assert.equal(typeof answer.body.error.message, "string");
  }
});

test("a refusal names the field and the value", async (t) => {
  const { call } = await start(t);
  const asked: [string, unknown, string][] = [
    ["POST /v1/queues/q/lease", { max: "5" }, 'body.max must be integer, got "5"'],
    ["POST /v1/queues/q/lease", { max: 0 }, "body.max must be >= 1, got 0"],
    ["POST /v1/queues/q/lease", { maximum: 1 }, "known are max, wait, lease, worker, encoding"],
    ["POST /v1/extend", {}, "body.items is missing"],
    ["PUT /v1/queues/q", { retry: [] }, "factor, jitter, deliveries, got an array"],
    ["PUT /v1/queues/q", { onFull: "explode" }, 'reject, drop, spill, wait, got "explode"'],
    ["PUT /v1/queues/q", { lease: "5" }, '"30s", "5m", "1h" or "2d", got "5"'],
  ];
  for (const [line, body, message] of asked) {
    const answer = await call(line, { body });
    assert.ok(answer.body.error.message.endsWith(message), answer.body.error.message);
  }
});

test("an unexpected error answers 500, exposes no internals and is logged", async (t) => {
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  const { call } = await start(t, {
    log: { to },
    routes: (app) => {
      app.get("/bug", () => {
        throw new Error("secret inside");
      });
    },
  });
  const { status, body } = await call("GET /bug");
  assert.deepEqual([status, body.error.code], [500, "INTERNAL"]);
  assert.ok(!JSON.stringify(body).includes("secret inside"));
  assert.match(lines.join(""), /secret inside/);
});

test("the limits are those of the documentation", () => {
  const { bodyBytesMax, headersTimeoutMs, connectionsPerAddressMax } = parseLimits();
  assert.ok(bodyBytesMax >= 16 * 1024 * 1024);
  assert.deepEqual([headersTimeoutMs, connectionsPerAddressMax], [10_000, 100]);
});
