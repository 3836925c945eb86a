import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import { FrameWriter, KIND, writeHello } from "@sluice/protocol/wire";
import { WebSocket } from "ws";
import { FRAGMENTS_MAX, GREETING_MESSAGES_MAX, MESSAGES_BURST } from "../limits.ts";
import { type Served, serve } from "../testing/stream-server.ts";

async function open(t: TestContext): Promise<Served> {
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", {});
  const served = await serve(broker, { open: async () => broker });
  t.after(async () => {
    await served.close();
    await broker.close();
  });
  return served;
}

async function connect({ url }: Served): Promise<WebSocket> {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/stream`);
  ws.on("error", () => {});
  await once(ws, "open");
  return ws;
}

function hello(writer = new FrameWriter()): FrameWriter {
  const greeting = { version: 1, apiKey: undefined, client: "test", session: "", received: 0 };
  writeHello(writer, { ...greeting, isResumable: false });
  return writer;
}

async function greeted(served: Served): Promise<WebSocket> {
  const ws = await connect(served);
  ws.send(hello().take());
  await once(ws, "message");
  return ws;
}

/** Sends until the connection is over; answers the code, or 1006 when it was cut off. */
async function flood(ws: WebSocket, send: () => void): Promise<number> {
  const closed = once(ws, "close");
  let count = 0;
  while (ws.readyState === WebSocket.OPEN && count < 4 * MESSAGES_BURST) {
    for (let i = 0; i < 1000; i++, count++) send();
    await new Promise(setImmediate);
  }
  const [code] = (await closed) as [number];
  return code;
}

test("pings and messages before the greeting are counted", async (t) => {
  const served = await open(t);
  const few = await connect(served);
  for (let i = 1; i < GREETING_MESSAGES_MAX; i++) few.ping();
  few.send(hello().take());
  await once(few, "message");
  few.terminate();
  const many = await connect(served);
  assert.ok([1008, 1006].includes(await flood(many, () => many.ping())));
  const empty = await connect(served);
  assert.ok([1008, 1006].includes(await flood(empty, () => empty.send(Buffer.alloc(0)))));
});

test("a client that floods the stream is cut off", async (t) => {
  const served = await open(t);
  const writer = new FrameWriter();
  writer.begin(KIND.ping, 1);
  writer.end();
  const ping = writer.take();
  const sends: Record<string, (ws: WebSocket) => void> = {
    pings: (ws) => ws.ping(),
    pongs: (ws) => ws.pong(),
    "empty messages": (ws) => ws.send(Buffer.alloc(0)),
    "tiny frames": (ws) => ws.send(ping),
  };
  for (const [name, send] of Object.entries(sends)) {
    const ws = await greeted(served);
    const code = await flood(ws, () => send(ws));
    assert.ok([1002, 1008, 1006].includes(code), `${name}: ${code}`);
  }
});

test("a message in too many parts is refused", async (t) => {
  const ws = await greeted(await open(t));
  const closed = once(ws, "close");
  for (let i = 0; i <= FRAGMENTS_MAX; i++) ws.send(Buffer.alloc(1), { fin: false });
  const [code] = (await closed) as [number];
  assert.equal(code, 1008);
});

test("a client that adds one by one, as fast as it can, is not held up", async (t) => {
  const served = await open(t);
  const client = await connectBroker(served.url);
  for (let i = 0; i < 500; i++) await client.add("q", [{ payload: new Uint8Array(1) }]);
  await client.close();
});

test("frames behind the greeting, in its message, are refused", async (t) => {
  const served = await open(t);
  const ws = await connect(served);
  const writer = hello();
  writer.begin(KIND.ping, 1);
  writer.end();
  const closed = once(ws, "close");
  ws.send(writer.take());
  const [code] = (await closed) as [number];
  assert.equal(code, 1002);
});
