import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { ERROR_CODES, type ErrorCode } from "@sluice/protocol";
import type { FastifyInstance, InjectOptions } from "fastify";
import { randomBytes, randomRequest } from "./testing/random-request.ts";
import { call, start } from "./testing/start.ts";

/** Requests; the soak sets more. A few of them go through real sockets, byte by byte wrong. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);
const RAW_INPUTS = Math.floor(INPUTS / 20);

/** The longest that one request may keep the processor, for 99 of a hundred. */
const CPU_MS_P99 = 20;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

test("whatever request comes is answered: no crash, no 500, no long stall", async (t) => {
  let app: FastifyInstance | undefined;
  const { broker } = await start(t, {
    routes: (made) => {
      app = made;
    },
  });
  const spent: number[] = [];
  const statuses = new Map<number, number>();
  for (let seed = 1; seed <= INPUTS; seed++) {
    if (seed % 500 === 1) {
      await broker.setQueue("q", { capacity: { jobs: 100 }, paused: false });
      await broker.add("q", [{ payload: new Uint8Array(3) }]);
    }
    const from = cpuMs();
    const request = randomRequest(seed) as InjectOptions;
    const { statusCode, body, headers } = await app!.inject(request);
    spent.push(cpuMs() - from);
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    assert.notEqual(statusCode, 500, `seed ${seed}: ${JSON.stringify(request)} ${body}`);
    assert.ok(!body.includes('"INTERNAL"'), `seed ${seed}: ${JSON.stringify(request)} ${body}`);
    if (statusCode < 400) continue;
    assert.match(String(headers["content-type"]), /json/, `seed ${seed}`);
    const { code, message } = JSON.parse(body).error;
    assert.ok(ERROR_CODES.includes(code as ErrorCode), `seed ${seed}: ${body}`);
    assert.equal(typeof message, "string");
  }
  for (const status of [200, 201, 204, 400, 404]) assert.ok(statuses.has(status), String(status));
  spent.sort((a, b) => a - b);
  const p99 = spent[Math.floor(spent.length * 0.99)]!;
  assert.ok(p99 < CPU_MS_P99, `p99 of the processor time is ${p99} ms`);
  assert.equal(({} as { a?: unknown }).a, undefined);
});

test("the server keeps running whatever bytes it receives", async (t) => {
  const { server } = await start(t, {
    limits: { headersTimeout: 2_000, requestTimeout: 2_000 },
  });
  for (let seed = 1; seed <= RAW_INPUTS; seed += 50) {
    const sockets = Array.from({ length: 50 }, (_, i) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.resume();
      socket.end(randomBytes(seed + i));
      return once(socket, "close");
    });
    await Promise.all(sockets);
  }
  assert.equal((await call(server.address, "GET /readyz")).status, 200);
});
