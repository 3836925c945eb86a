import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { turns } from "@sluice/protocol/testing";
import { BodyBudget } from "../body/body-budget.ts";
import {
  BODY_BYTES_SMALL_MAX,
  LEASES_BODY_BYTES_MAX,
  QUEUE_BODY_BYTES_MAX,
  VALUE_BODY_BYTES_MAX,
} from "../limits.ts";
import { start } from "../testing/start.ts";

const JSON_HEAD = "host: localhost\r\ncontent-type: application/json";

/** Sends a request's head, and none of the body that it announces. */
function announce(port: number, line: string, bytes: number, more = ""): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`${line} HTTP/1.1\r\n${JSON_HEAD}\r\n${more}content-length: ${bytes}\r\n\r\n`);
  return socket;
}

async function firstLine(socket: Socket): Promise<string> {
  const [answer] = await once(socket, "data");
  return String(answer).split("\r\n", 1)[0]!;
}

test("an address or a method that there is not is refused before its body is read", async (t) => {
  for (const keys of [false, true]) {
    const { server } = await start(t, { keys });
    for (const line of ["POST /nowhere", "PUT /x", "POST /healthz", "DELETE /v1/queues"]) {
      const socket = announce(server.port, line, 16_000_000);
      assert.equal(await firstLine(socket), "HTTP/1.1 404 Not Found", line);
      socket.destroy();
    }
  }
});

test("without a key no route reads a body", async (t) => {
  let routes: readonly { method: string; url: string }[] = [];
  const { server } = await start(t, {
    keys: true,
    routes: (app) => {
      routes = bodyRoutes(app.printRoutes({ commonPrefix: false }));
    },
  });
  assert.ok(routes.length > 15, `${routes.length} routes`);
  for (const { method, url } of routes) {
    const path = url.replace(/:\w+/g, "q");
    const socket = announce(server.port, `${method} ${path}`, 60_000);
    assert.match(await firstLine(socket), /401|413/, `${method} ${path}`);
    socket.destroy();
  }
});

/** The routes that may carry a body, from a tree of them all. */
function bodyRoutes(tree: string): { method: string; url: string }[] {
  const parts: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const found = /^([ │]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/.exec(line);
    if (found === null) return [];
    const [, indent, part, methods = ""] = found;
    const depth = indent!.length / 4;
    parts.length = depth;
    parts[depth] = part!;
    const url = parts.join("");
    const withBody = methods.split(", ").filter((method) => /POST|PUT|DELETE/.test(method));
    return withBody.map((method) => ({ method, url }));
  });
}

test("each route takes a body as large as it needs, and none larger", async (t) => {
  const { server } = await start(t, { queues: ["q"] });
  const limits: [string, number][] = [
    ["POST /v1/queues/q/lease", BODY_BYTES_SMALL_MAX],
    ["PUT /v1/gates/g", BODY_BYTES_SMALL_MAX],
    ["POST /v1/session", BODY_BYTES_SMALL_MAX],
    ["POST /v1/keys", BODY_BYTES_SMALL_MAX],
    ["DELETE /v1/session", 1],
    ["POST /v1/extend", LEASES_BODY_BYTES_MAX],
    ["POST /v1/give-back", LEASES_BODY_BYTES_MAX],
    ["POST /v1/progress", LEASES_BODY_BYTES_MAX],
    ["PUT /v1/queues/q", QUEUE_BODY_BYTES_MAX],
    ["PUT /v1/config/k", VALUE_BODY_BYTES_MAX],
    ["POST /v1/queues/q/jobs", 16 * 1024 * 1024 + 64 * 1024],
    ["POST /v1/ack", 16 * 1024 * 1024 + 64 * 1024],
  ];
  for (const [line, bytes] of limits) {
    const over = announce(server.port, line, bytes + 1);
    assert.match(await firstLine(over), /413/, `${line} with ${bytes + 1}`);
    over.destroy();
    const fits = announce(server.port, line, bytes, "connection: close\r\n");
    fits.write(`{${" ".repeat(bytes - 1)}`);
    assert.match(await firstLine(fits), /400/, `${line} with ${bytes}`);
    fits.destroy();
  }
});

test("all bodies share a budget, of which large ones leave a part to small ones", async (t) => {
  const limits = { bodyBytesMax: 100_000, bodiesBytesMax: 240_000 };
  const { call, server } = await start(t, { queues: ["q"], limits });
  const add = (bytes: number) =>
    call("POST /v1/queues/q/jobs", { body: `{"payload":"${"x".repeat(bytes - 14)}"}` });
  const held = [1, 2].map(() => announce(server.port, "POST /v1/queues/q/jobs", 100_000));
  for (const socket of held) socket.write(`{"payload":"${"x".repeat(80_000)}`);
  let refused = await add(90_000);
  while (refused.status === 201) refused = await add(90_000);
  assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.equal((await add(10_000)).status, 201, "small ones are taken");
  for (const socket of held) socket.destroy();
  while ((await add(90_000)).status !== 201);
});

test("what a body took of the budget is given back however the request ends", async (t) => {
  const limits = { bodyBytesMax: 100_000, bodiesBytesMax: 200_000 };
  const { call, server } = await start(t, { queues: ["q"], limits });
  const body = `{"payload":"${"x".repeat(90_000)}"}`;
  for (let i = 0; i < 5; i++) {
    assert.equal((await call("POST /v1/queues/q/jobs", { body })).status, 201);
    assert.equal((await call("POST /v1/queues/none/jobs", { body })).status, 404);
    assert.equal((await call("POST /v1/queues/q/jobs", { body: `${body}]` })).status, 400);
    const socket = announce(server.port, "POST /v1/queues/q/jobs", 100_000);
    socket.end(body);
    await once(socket.resume(), "close");
  }
});

test("a connection lost in the middle of a body is not logged as an error", async (t) => {
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  const { server } = await start(t, { queues: ["q"], log: { to } });
  const expect = "expect: 100-continue\r\n";
  const socket = announce(server.port, "POST /v1/queues/q/jobs", 1_000, expect);
  assert.match(await firstLine(socket), / 100 /);
  socket.destroy();
  await server.close();
  await turns(10);
  assert.ok(!lines.some((line) => JSON.parse(line).level === "error"), lines.join(""));
});

test("an add that waits for room is withdrawn when its caller is gone", async (t) => {
  const { broker, server } = await start(t);
  await broker.setQueue("q", { capacity: { jobs: 1 }, onFull: "wait", addTimeout: 600_000 });
  await broker.add("q", [{ payload: Buffer.from("1") }]);
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const add = broker.add.bind(broker);
  let answer: Promise<unknown> | undefined;
  t.mock.method(broker, "add", (...args: Parameters<typeof add>) => {
    answer = add(...args);
    answer.catch(() => {});
    resolve();
    return answer;
  });
  const body = '{"payload":2}';
  const socket = announce(server.port, "POST /v1/queues/q/jobs", body.length);
  socket.write(body);
  await asked;
  socket.destroy();
  await assert.rejects(answer!, { code: "ABORTED" });
  const [first] = await broker.lease("q", { max: 2 });
  await broker.ack([{ lease: first!.lease }]);
  assert.deepEqual(await broker.lease("q", { max: 2 }), [], "it does not enter later");
});

test("the budget counts what is taken and given", () => {
  const budget = new BodyBudget(400_000);
  budget.take(300_000, 0);
  assert.throws(() => budget.take(70_000, 0), { code: "RATE_LIMITED" });
  budget.take(60_000, 0);
  assert.throws(() => budget.take(10_000, 60_000), { code: "RATE_LIMITED" }, "it grows large");
  budget.take(40_000, 0);
  assert.throws(() => budget.take(1, 0), { code: "RATE_LIMITED" });
  budget.give(300_000);
  budget.take(70_000, 0);
  assert.equal(budget.bytes, 170_000);
});

test("a payload over HTTP is opaque: what JSON can say of names is taken", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const payload = '{"__proto__":{"a":1},"constructor":{"prototype":{}}, "n": 1.50}';
  const one = await call("POST /v1/queues/q/jobs", { body: `{"payload":${payload}}` });
  assert.equal(one.status, 201);
  const many = await call("POST /v1/queues/q/jobs", { body: `{"jobs":[{"payload":${payload}}]}` });
  assert.equal(many.body.results.length, 1);
  const jobs = await broker.lease("q", { max: 2 });
  for (const job of jobs) assert.equal(Buffer.from(job.payload).toString(), payload);
  const items = jobs.map(({ lease }) => `{"lease":"${lease}","result":${payload}}`);
  const acked = await call("POST /v1/ack", { body: `{"items":[${items.join(",")}]}` });
  assert.deepEqual(acked.body.results, [{ ok: true }, { ok: true }]);
  const { result } = await broker.job(one.body.id);
  assert.equal(Buffer.from(result!).toString(), payload);
  assert.equal(({} as { a?: number }).a, undefined);
});
