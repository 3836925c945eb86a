import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { dialWs } from "./dial-ws.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Takes connections and then answers nothing, not even a close frame, as a stopped process. */
async function frozenServer(t: TestContext) {
  const server = createServer();
  const taken = Promise.withResolvers<Duplex>();
  server.on("upgrade", ({ headers }, socket) => {
    const accept = hash("sha1", `${headers["sec-websocket-key"]}${GUID}`, "base64");
    const lines = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
    socket.resume();
    t.after(() => socket.destroy());
    taken.resolve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, taken: taken.promise };
}

const timeout = 10_000;

test("a connection that the server does not close is ended", { timeout }, async (t) => {
  const { url, taken } = await frozenServer(t);
  const socket = await dialWs()(url);
  const other = await taken;
  const ended = once(other, "end");
  socket.close(1000, "closed");
  await ended;
});

test("a connection that breaks says so in words", { timeout }, async (t) => {
  const { url, taken } = await frozenServer(t);
  const socket = await dialWs()(url);
  const closed = new Promise<string>((resolve) => {
    socket.onclose = resolve;
  });
  (await taken).destroy();
  assert.equal(await closed, "connection reset");
});
