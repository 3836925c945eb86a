import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import {
  FrameReader,
  FrameWriter,
  JSON_NAMES_MAX,
  JSON_VALUES_MAX,
  KIND,
  readError,
  writeHello,
} from "@sluice/protocol/wire";
import { WebSocket } from "ws";
import { serve } from "../testing/stream-server.ts";

interface Opened {
  readonly broker: Broker;
  readonly url: string;
}

async function open(t: TestContext): Promise<Opened> {
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", {});
  const served = await serve(broker);
  t.after(async () => {
    await served.close();
    await broker.close();
  });
  return { broker, url: served.url };
}

async function greeted({ url }: Opened): Promise<WebSocket> {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/stream`);
  await once(ws, "open");
  const writer = new FrameWriter();
  const greeting = { version: 1, apiKey: undefined, client: "test", session: "", received: 0 };
  writeHello(writer, { ...greeting, isResumable: false });
  ws.send(writer.take());
  await once(ws, "message");
  return ws;
}

function names(count: number, prefix = "k"): string {
  return `{${Array.from({ length: count }, (_, i) => `"${prefix}${i}":1`).join(",")}}`;
}

/** One message of calls that set a queue to what is no options of one, and a ping behind them. */
function message(calls: readonly string[]): Uint8Array {
  const writer = new FrameWriter();
  for (const [i, json] of calls.entries()) {
    writer.begin(KIND.call, i + 1);
    writer.short("setQueue");
    writer.blob(new TextEncoder().encode(json));
    writer.end();
  }
  writer.begin(KIND.ping, 99);
  writer.end();
  return writer.take();
}

/** Sends it; answers the codes of the refusals, once the ping is answered and all calls are. */
async function refusals(ws: WebSocket, calls: readonly string[]): Promise<string[]> {
  const codes: string[] = [];
  let left = calls.length + 1;
  const done = Promise.withResolvers<void>();
  ws.on("message", (data: Buffer) => {
    const reader = new FrameReader(new Uint8Array(data));
    while (reader.next()) {
      if (reader.kind === KIND.error) codes[reader.operation - 1] = readError(reader).code;
      reader.skip();
      if (--left === 0) done.resolve();
    }
  });
  ws.on("close", () => done.reject(new Error("the connection was closed")));
  ws.send(message(calls));
  await done.promise;
  return codes;
}

/** Counts the values of all texts that are parsed. */
function countParsed(t: TestContext): () => number {
  let values = 0;
  const { parse } = JSON;
  t.mock.method(JSON, "parse", (text: string) => {
    values += text.split(/[,[{]/).length - 1;
    return parse(text);
  });
  return () => values;
}

test("a call with a million names is refused unparsed, and the connection stays", async (t) => {
  const ws = await greeted(await open(t));
  const parsed = countParsed(t);
  const codes = await refusals(ws, [`["q",${names(1_000_000)}]`]);
  assert.deepEqual(codes, ["PAYLOAD_TOO_LARGE"]);
  // The client parses the details of the error.
  assert.ok(parsed() < 10, `${parsed()} values`);
  ws.terminate();
});

test("calls of one message are parsed up to the limit, whatever their number", async (t) => {
  const ws = await greeted(await open(t));
  const parsed = countParsed(t);
  const calls = Array.from({ length: 10 }, (_, i) => `["q",${names(JSON_NAMES_MAX / 3, `${i}.`)}]`);
  const codes = await refusals(ws, calls);
  // Some names share a hash, so one call more may fit.
  assert.deepEqual(codes.slice(0, 2), ["INVALID", "INVALID"]);
  assert.deepEqual(codes.slice(4), Array<string>(6).fill("PAYLOAD_TOO_LARGE"));
  assert.ok(parsed() <= 1.5 * JSON_NAMES_MAX, `${parsed()} names`);
  ws.terminate();
});

test("a client refuses a call with too many values before it sends it", async (t) => {
  const { url } = await open(t);
  const remote = await connectBroker(url);
  t.after(() => remote.close());
  const value = Array<number>(JSON_VALUES_MAX).fill(0);
  const refused = { code: "PAYLOAD_TOO_LARGE" };
  await assert.rejects(remote.storeWrite("s", [{ key: "k", value }]), refused);
  const fitting = Array<number>(JSON_VALUES_MAX / 2).fill(0);
  await remote.storeWrite("s", [{ key: "k", value: fitting }]);
  assert.deepEqual(await remote.storeGet("s", ["k"]), [fitting]);
});

test("a batch of as many jobs as may be, with many options each, is added", async (t) => {
  const opened = await open(t);
  const remote = await connectBroker(opened.url);
  t.after(() => remote.close());
  const count = 10_000;
  const backoff = { minMs: 1, maxMs: 2, factor: 2, jitter: 0 };
  const options = {
    delayMs: 60_000,
    ttlMs: 600_000,
    cost: 1,
    attempts: 3,
    leaseMs: 5_000,
    backoff,
  };
  const jobs = Array.from({ length: count }, (_, i) => ({
    payload: new TextEncoder().encode(String(i)),
    ...options,
  }));
  const outcomes = await remote.add("q", jobs);
  assert.equal(outcomes.filter(({ ok }) => ok !== undefined).length, count);
  assert.equal((await opened.broker.queue("q")).stats.delayed, count);
});
