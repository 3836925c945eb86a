// How long the largest and the most costly bodies hold the server's event loop.

import { join } from "node:path";
import { FrameWriter, JSON_NAMES_MAX, KIND, writeHello } from "@sluice/protocol/wire";
import type { Figure, Group, Report, Scale } from "../figure.ts";
import { Process } from "../process.ts";
import { figureOf } from "../spread.ts";

const PROGRAM = join(import.meta.dirname, "bodies-server.ts");
const TURN_MS_MAX = 50;
const JOBS = "/v1/queues/q/jobs";

export const bodyGroups: readonly Group[] = [{ name: "bodies", run: measureBodies }];

interface Body {
  readonly name: string;
  readonly path: string;
  readonly text: () => string;
}

function names(count: number, prefix = "k"): string {
  return `{${Array.from({ length: count }, (_, i) => `"${prefix}${i}":1`).join(",")}}`;
}

function batch(count: number): string {
  const job = (i: number): object => ({ payload: { to: "a@b.c", i }, fairnessKey: `t${i % 100}` });
  return JSON.stringify({ jobs: Array.from({ length: count }, (_, i) => job(i)) });
}

const BODIES: readonly Body[] = [
  { name: "a million names as a payload", path: JOBS, text: () => `{"payload":${names(1e6)}}` },
  { name: "16 MB of lists", path: JOBS, text: () => `{"payload":[${"[],".repeat(5e6)}0]}` },
  { name: "16 MB of text", path: JOBS, text: () => `{"payload":"${"x".repeat(16e6)}"}` },
  { name: "16 MB of base64", path: JOBS, text: () => `{"payloadBase64":"${"A".repeat(16e6)}"}` },
  { name: "10,000 jobs", path: JOBS, text: () => batch(10_000) },
  { name: "a result of a million names", path: "/v1/ack", text: () => ack(names(1e6)) },
  { name: "a million names without a route", path: "/nowhere", text: () => names(1e6) },
];

function ack(result: string): string {
  return `{"items":[{"lease":"a1.1","result":${result}}]}`;
}

async function measureBodies(scale: Scale, report: Report): Promise<void> {
  await using server = new Process(PROGRAM);
  const address = await server.ask<string>("open");
  await measureLease(server, address, scale, report);
  for (const { name, path, text } of BODIES) {
    const body = text();
    await post(`${address}${path}`, body);
    const turns: number[] = [];
    for (let run = 0; run < scale.runs; run++) {
      await server.ask("longestTurnMs");
      await post(`${address}${path}`, body);
      turns.push(await server.ask<number>("longestTurnMs"));
    }
    report(turnFigure(name, body.length, turns));
  }
  await measureCalls(server, address, scale, report);
}

// Calls by name over the stream: the largest that is parsed, and one that is refused.
async function measureCalls(
  server: Process,
  address: string,
  scale: Scale,
  report: Report,
): Promise<void> {
  const calls = { "as many names as a call may have": JSON_NAMES_MAX, "a million names": 1e6 };
  const stream = await Stream.open(address);
  for (const [name, count] of Object.entries(calls)) {
    const turns: number[] = [];
    let bytes = 0;
    for (let run = 0; run < scale.runs; run++) {
      const message = callOf(`["q",${names(count, `${run}.${count}.`)}]`);
      bytes = message.length;
      await server.ask("longestTurnMs");
      await stream.ask(message);
      turns.push(await server.ask<number>("longestTurnMs"));
    }
    report(turnFigure(`a call with ${name}`, bytes, turns));
  }
  stream.close();
}

function callOf(json: string): Uint8Array<ArrayBuffer> {
  const writer = new FrameWriter();
  writer.begin(KIND.call, 1);
  writer.short("setQueue");
  writer.blob(new TextEncoder().encode(json));
  writer.end();
  return writer.take();
}

class Stream {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open(address: string): Promise<Stream> {
    const socket = new WebSocket(`${address.replace("http", "ws")}/v1/stream`);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    const stream = new Stream(socket);
    const writer = new FrameWriter();
    const greeting = { version: 1, apiKey: undefined, client: "bench", session: "", received: 0 };
    writeHello(writer, { ...greeting, isResumable: false });
    await stream.ask(writer.take());
    return stream;
  }

  async ask(message: Uint8Array<ArrayBuffer>): Promise<void> {
    const answered = new Promise((resolve) =>
      this.#socket.addEventListener("message", resolve, { once: true }),
    );
    this.#socket.send(message);
    await answered;
  }

  close(): void {
    this.#socket.close();
  }
}

function turnFigure(name: string, bytes: number, turns: readonly number[]): Figure {
  const metric = `longest turn of the event loop, ${name}`;
  const figure = figureOf(metric, "ms of processor time", turns, { bytes });
  return { ...figure, target: { atMost: TURN_MS_MAX } };
}

const LEASED_JOBS = 12;

// The answer is as large as the jobs that were added before.
async function measureLease(
  server: Process,
  address: string,
  scale: Scale,
  report: Report,
): Promise<void> {
  const job = `{"payload":${names(90_000)}}`;
  const turns: number[] = [];
  for (let run = 0; run <= scale.runs; run++) {
    for (let i = 0; i < LEASED_JOBS; i++) await post(`${address}${JOBS}`, job);
    await server.ask("longestTurnMs");
    await post(`${address}/v1/queues/q/lease`, JSON.stringify({ max: LEASED_JOBS }));
    const turn = await server.ask<number>("longestTurnMs");
    // The first is for the compiler.
    if (run > 0) turns.push(turn);
  }
  report(turnFigure("a lease of a million names", job.length * LEASED_JOBS, turns));
}

// The server may answer and close before it has read all of it.
async function post(url: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  await fetch(url, { method: "POST", headers, body })
    .then((answer) => answer.arrayBuffer())
    .catch(() => undefined);
}
