import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { FakeClock } from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import {
  FrameReader,
  FrameWriter,
  type Hello,
  KIND,
  readError,
  writeHello,
} from "@sluice/protocol/wire";
import { WebSocket } from "ws";
import { memoryBroker } from "../testing/start.ts";
import { type Served, serve } from "../testing/stream-server.ts";
import type { StreamOptions } from "./serve-stream.ts";
import type { ServerSocket } from "./session.ts";

async function open(t: TestContext, options: Partial<StreamOptions> = {}): Promise<Served> {
  const broker = await openBroker({ log: new MemoryLog() });
  await broker.setQueue("q", {});
  const served = await serve(broker, { open: async () => broker, ...options });
  t.after(async () => {
    await served.close();
    await broker.close();
  });
  return served;
}

const HELLO: Hello = {
  version: 1,
  apiKey: undefined,
  client: "test",
  session: "",
  received: 0,
  isResumable: true,
};

function helloBytes(hello: Partial<Hello> = {}): Uint8Array {
  const writer = new FrameWriter();
  writeHello(writer, { ...HELLO, ...hello });
  return writer.take();
}

async function raw(
  { url }: Served,
  headers: Record<string, string> = {},
  search = "",
): Promise<WebSocket> {
  const ws = new WebSocket(`${url.replace("http", "ws")}/v1/stream${search}`, { headers });
  await once(ws, "open");
  return ws;
}

/** The error that the connection ends with. */
async function refusal(ws: WebSocket): Promise<{ code: string; field: unknown; close: number }> {
  const closed = once(ws, "close");
  const [data] = (await once(ws, "message")) as [Buffer];
  const reader = new FrameReader(data);
  reader.next();
  assert.equal(reader.kind, KIND.error);
  const { code, details } = readError(reader);
  const [close] = (await closed) as [number];
  return { code, field: details?.field, close };
}

test("a wrong key is refused with UNAUTHORIZED", async (t) => {
  const broker = await memoryBroker(t);
  const served = await open(t, {
    open: async (apiKey) => {
      if (apiKey === "right") return broker;
      throw new SluiceError("UNAUTHORIZED", "the key is not known");
    },
  });
  await assert.rejects(connectBroker(served.url), { code: "UNAUTHORIZED" });
  await assert.rejects(connectBroker(served.url, { apiKey: "wrong" }), { code: "UNAUTHORIZED" });
  await (await connectBroker(served.url, { apiKey: "right" })).close();
});

test("another version of the protocol is refused and named", async (t) => {
  const ws = await raw(await open(t));
  ws.send(helloBytes({ version: 2 }));
  assert.deepEqual(await refusal(ws), { code: "INVALID", field: "version", close: 1008 });
});

test("what is no greeting is refused", async (t) => {
  const served = await open(t);
  for (const bytes of [Buffer.from("GET / HTTP/1.1"), Buffer.alloc(0), Buffer.alloc(9)]) {
    const ws = await raw(served);
    ws.send(bytes);
    assert.equal((await refusal(ws)).code, "INVALID");
  }
});

test("text, and frames of no sense, end the connection with an error", async (t) => {
  const served = await open(t);
  const text = await raw(served);
  text.send("hello");
  const [code] = (await once(text, "close")) as [number];
  assert.equal(code, 1003);
  const ws = await raw(served);
  ws.send(helloBytes());
  await once(ws, "message");
  ws.send(Buffer.from([0x77, 1, 0, 0, 0, 0, 0, 0, 0]));
  assert.deepEqual(await refusal(ws), { code: "INVALID", field: "frame", close: 1002 });
});

test("a message larger than a frame may be ends the connection", async (t) => {
  const ws = await raw(await open(t));
  ws.on("error", () => {});
  ws.send(Buffer.alloc(24 * 1024 * 1024 + 1));
  const [code] = (await once(ws, "close")) as [number];
  assert.equal(code, 1009);
});

test("who says nothing is cut off", async (t) => {
  const clock = new FakeClock();
  const ws = await raw(await open(t, { clock, handshakeMs: 1000 }));
  const closed = once(ws, "close");
  await clock.advance(1000);
  const [code] = (await closed) as [number];
  assert.equal(code, 1008);
});

test("who falls silent is cut off", async (t) => {
  const ws = await raw(await open(t, { heartbeatMs: 20 }));
  ws.send(helloBytes());
  await once(ws, "close");
});

test("connections are counted, in all and of one address", async (t) => {
  const all = await open(t, { connectionsMax: 1 });
  const one = await raw(all);
  await assert.rejects(raw(all), /503/);
  one.terminate();
  const each = await open(t, { connectionsPerAddressMax: 1 });
  const first = await raw(each);
  await assert.rejects(raw(each), /429/);
  first.terminate();
});

test("streams to partitions are counted apart", async (t) => {
  const partition = (_: number, socket: ServerSocket): void => {
    socket.onmessage = () => {};
  };
  const bounds = { connectionsPerAddressMax: 1, partitionStreamsPerAddressMax: 2 };
  const served = await open(t, { partition, ...bounds });
  const made = [
    await raw(served),
    await raw(served, {}, "?partition=0"),
    await raw(served, {}, "?partition=1"),
  ];
  await assert.rejects(raw(served, {}, "?partition=0"), /429/);
  await assert.rejects(raw(served), /429/);
  for (const ws of made) ws.terminate();
});

test("a web page of another origin is refused, one of the server's own is not", async (t) => {
  const served = await open(t);
  await assert.rejects(raw(served, { origin: "http://evil.example" }), /403/);
  await assert.rejects(raw(served, { origin: "null" }), /403/);
  (await raw(served, { origin: served.url })).terminate();
});

test("does not resume a session for a client with another key", async (t) => {
  const served = await open(t);
  const mine = await raw(served);
  mine.send(helloBytes({ apiKey: "mine" }));
  const welcomed = (await once(mine, "message")) as [Buffer];
  const session = sessionOf(welcomed[0]);
  const other = await raw(served);
  other.send(helloBytes({ apiKey: "other", session }));
  const [answer] = (await once(other, "message")) as [Buffer];
  assert.notEqual(sessionOf(answer), session);
  mine.terminate();
  other.terminate();
});

function sessionOf(welcome: Buffer): string {
  const reader = new FrameReader(welcome);
  reader.next();
  reader.u32();
  reader.u16();
  reader.u8();
  reader.text();
  return reader.short();
}

test("addresses that are none are refused, and so is a key in the address", async () => {
  for (const url of ["", "localhost:7070", "ftp://localhost", "http://me:secret@localhost"]) {
    await assert.rejects(connectBroker(url), { code: "INVALID" });
  }
});
