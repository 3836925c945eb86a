// The server over HTTP: how many adds it takes, what it does when adds far exceed its limit, and
// whether clients that send a byte a second harm the others.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Group, Report, Scale } from "../figure.ts";
import { KeepAliveClient } from "../keep-alive-client.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat } from "../spread.ts";

const MAIN = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const PATH = "/v1/queues/bench/jobs";
const PAYLOAD = "x".repeat(500);
const CONNECTIONS = 20;
const SECONDS = 5;
const TICK_MS = 5;

export const httpGroups: readonly Group[] = [
  { name: "http", run: measureAdds },
  { name: "overload", run: measureOverload },
  { name: "slow-clients", run: measureSlowClients },
];

// `sluice serve`, as anybody starts it.
class Server implements AsyncDisposable {
  readonly address: string;
  readonly #child: ChildProcess;
  readonly #scratch: Scratch;

  private constructor(address: string, child: ChildProcess, scratch: Scratch) {
    this.address = address;
    this.#child = child;
    this.#scratch = scratch;
  }

  static async start(...options: string[]): Promise<Server> {
    const scratch = new Scratch();
    const fixed = ["--port", "0", "--dir", scratch.fresh(), "--log-level", "error", "--json"];
    const child = spawn(process.execPath, [MAIN, "serve", ...fixed, ...options], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    process.on("exit", () => child.kill("SIGKILL"));
    const [line] = await once(child.stdout, "data");
    const { address } = JSON.parse(String(line));
    const made = await fetch(`${address}/v1/queues/bench`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ capacity: { jobs: 10_000_000, bytes: 1e12 } }),
    });
    if (!made.ok) throw new Error(await made.text());
    return new Server(address, child, scratch);
  }

  get conditions() {
    return { durability: "fsync", disk: this.#scratch.disk };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
    this.#scratch[Symbol.dispose]();
  }
}

function bodyOf(jobs: number): string {
  const job = { payload: PAYLOAD, fairnessKey: "acme" };
  return JSON.stringify(jobs === 1 ? job : { jobs: Array.from({ length: jobs }, () => job) });
}

async function measureAdds(scale: Scale, report: Report): Promise<void> {
  await using server = await Server.start();
  for (const batch of [1, 100]) {
    const seconds = Math.max(1, scale.size(SECONDS));
    await addFor(server, batch, 1);
    const speeds = await repeat(scale.runs, () => addFor(server, batch, seconds));
    const conditions = { ...server.conditions, connections: CONNECTIONS, inFlightEach: IN_FLIGHT };
    report(figureOf(`adds over HTTP, ${batch} in a request`, "jobs/s", speeds, conditions));
  }
}

const IN_FLIGHT = 4;

// Each connection has some requests under way; answers how many jobs were confirmed a second.
async function addFor(server: Server, batch: number, seconds: number): Promise<number> {
  const body = bodyOf(batch);
  let confirmed = 0;
  let isOver = false;
  const connections: KeepAliveClient[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection: KeepAliveClient = await KeepAliveClient.open(server.address, ({ status }) => {
      if (status === 200 || status === 201) confirmed += batch;
      if (!isOver) connection.post(PATH, body);
    });
    connections.push(connection);
  }
  const from = performance.now();
  for (const connection of connections) {
    for (let i = 0; i < IN_FLIGHT; i++) connection.post(PATH, body);
  }
  await setTimeout(seconds * 1000);
  const perSecond = (confirmed * 1000) / (performance.now() - from);
  isOver = true;
  while (connections.some(({ open }) => open > 0)) await setTimeout(TICK_MS);
  for (const connection of connections) connection.close();
  return perSecond;
}

const TAKEN = 10_000;
const OFFERED = 100_000;
const OVERLOAD_BATCH = 50;

async function measureOverload(scale: Scale, report: Report): Promise<void> {
  await using server = await Server.start("--adds-per-second", String(TAKEN));
  const seconds = Math.max(1, scale.size(SECONDS));
  await overload(server, 1);
  const runs = await repeat(scale.runs, () => overload(server, seconds));
  const conditions = {
    ...server.conditions,
    told: `${TAKEN} adds a second`,
    offered: `${OFFERED} a second, ${OVERLOAD_BATCH} in a request`,
  };
  const figure = (metric: string, unit: string, read: (run: Overload) => number) =>
    figureOf(metric, unit, runs.map(read), conditions);
  const share = ({ taken }: Overload): number => taken / TAKEN;
  const goodput = figure("goodput of an overloaded server", "of what it takes", share);
  report({ ...goodput, target: { atLeast: 0.8 } });
  report(figure("offered", "jobs/s", ({ offered }) => offered));
  const others = figure("answers beside 200 and 429", "requests", ({ other }) => other);
  report({ ...others, target: { atMost: 0 } });
  const bare = figure("429 without Retry-After", "requests", (run) => run.withoutRetryAfter);
  report({ ...bare, target: { atMost: 0 } });
}

interface Overload {
  readonly taken: number;
  readonly offered: number;
  readonly other: number;
  readonly withoutRetryAfter: number;
}

async function overload(server: Server, seconds: number): Promise<Overload> {
  const counts = { taken: 0, other: 0, withoutRetryAfter: 0 };
  const connections: KeepAliveClient[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection = await KeepAliveClient.open(server.address, ({ status, head }) => {
      if (status === 200) counts.taken += OVERLOAD_BATCH;
      else if (status !== 429) counts.other += 1;
      else if (!/retry-after: \d/i.test(head)) counts.withoutRetryAfter += 1;
    });
    connections.push(connection);
  }
  const body = bodyOf(OVERLOAD_BATCH);
  const from = performance.now();
  let sent = 0;
  for (;;) {
    const ms = performance.now() - from;
    if (ms >= seconds * 1000) break;
    const due = Math.floor((ms * OFFERED) / 1000 / OVERLOAD_BATCH);
    for (; sent < due; sent++) connections[sent % CONNECTIONS]!.post(PATH, body);
    await setTimeout(TICK_MS);
  }
  while (connections.some(({ open }) => open > 0)) await setTimeout(TICK_MS);
  const took = (performance.now() - from) / 1000;
  for (const connection of connections) connection.close();
  return { ...counts, taken: counts.taken / took, offered: (sent * OVERLOAD_BATCH) / took };
}

const SLOW_CLIENTS = 500;
const NORMAL_ADDS = 500;

async function measureSlowClients(scale: Scale, report: Report): Promise<void> {
  await using server = await Server.start();
  await normal(server);
  const alone: number[] = [];
  const beside: number[] = [];
  for (let run = 0; run < scale.runs; run++) {
    alone.push(await normal(server));
    const slow = await Promise.all(Array.from({ length: SLOW_CLIENTS }, () => slowly(server)));
    const beat = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write("x");
    }, 1000);
    beside.push(await normal(server));
    clearInterval(beat);
    for (const socket of slow) socket.destroy();
  }
  const conditions = { ...server.conditions, slowClients: SLOW_CLIENTS, adds: NORMAL_ADDS };
  report(figureOf("a normal client's add, alone, p99", "ms", alone, conditions));
  report({
    ...figureOf("the same beside slow clients, p99", "ms", beside, conditions),
    target: { atMost: 50 },
  });
}

// A request whose header never ends, at a byte a second.
async function slowly({ address }: Server): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`POST ${PATH} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-slow: `);
  return socket;
}

async function normal(server: Server): Promise<number> {
  const times: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const body = bodyOf(1);
  const connection: KeepAliveClient = await KeepAliveClient.open(server.address, ({ ms }) => {
    times.push(ms);
    if (times.length === NORMAL_ADDS) resolve();
    else connection.post(PATH, body);
  });
  connection.post(PATH, body);
  await promise;
  connection.close();
  return percentileOf(times, 0.99);
}
