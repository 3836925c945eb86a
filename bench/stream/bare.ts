// One of three processes that pass a message on over bare WebSockets: what any broker of this shape
// takes for the way from an add to its handler, whatever else it does.

import { once } from "node:events";
import { fdatasync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { answer } from "../answer.ts";
import { percentileOf } from "../percentile.ts";

const PAYLOAD_BYTES = 512;

const now = (): number => performance.timeOrigin + performance.now();

let socket: WebSocket;
let latencies: number[] = [];
let left = 0;
let finished = Promise.withResolvers<void>();

function receive(message: Buffer): void {
  latencies.push(now() - message.readDoubleLE(0));
  if (--left === 0) finished.resolve();
}

// Writes and, unless the file is only handed to the system, syncs; then the receiver gets the
// message, and the sender its answer.
function relay(path: string, isSynced: boolean): WebSocketServer {
  const file = openSync(path, "w");
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  let receiver: WebSocket;
  sockets.on("connection", (from, { url }) => {
    if (url === "/receiver") receiver = from;
    else {
      from.on("message", (message: Buffer) => {
        const pass = (): void => {
          receiver.send(message);
          from.send("added");
        };
        writeSync(file, message);
        if (isSynced) fdatasync(file, pass);
        else pass();
      });
    }
  });
  http.listen(0, "127.0.0.1");
  return sockets;
}

answer({
  async relay(path: string, isSynced: boolean) {
    const sockets = relay(path, isSynced);
    await once(sockets, "listening");
    return `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
  },

  async connect(url: string, isReceiver: boolean) {
    socket = new WebSocket(isReceiver ? `${url}/receiver` : url, { perMessageDeflate: false });
    await once(socket, "open");
    if (isReceiver) socket.on("message", receive);
  },

  async spaced(messages: number, restMs: number) {
    const payload = Buffer.alloc(PAYLOAD_BYTES);
    for (let sent = 0; sent < messages; sent++) {
      payload.writeDoubleLE(now(), 0);
      socket.send(payload);
      await once(socket, "message");
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  },

  async finishTimed(messages: number, shares: number[]) {
    latencies = [];
    left = messages;
    finished = Promise.withResolvers();
    await finished.promise;
    return shares.map((share) => percentileOf(latencies, share));
  },
});
