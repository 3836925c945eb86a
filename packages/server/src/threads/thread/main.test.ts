import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { FrameReader } from "@sluice/protocol/wire";
import { UNTAKEN_BYTES_MAX } from "../../limits.ts";
import type { FromThread, ThreadData } from "../messages.ts";
import { numberBytes, PACKET, PacketPort } from "../packets.ts";

const WITHIN = { timeout: 30_000 };

/** What a socket may still bring when the thread is about to read no more. */
const ONE_READ_BYTES = 1024 * 1024;

/** A thread on a free port, and the packets that it sends. */
async function started(t: TestContext) {
  const data: ThreadData = { tls: undefined, connectionsMax: 100 };
  const worker = new Worker(new URL("./main.ts", import.meta.url), { workerData: data });
  t.after(() => worker.terminate());
  const seen = { bytes: 0, kinds: new Set<number>() };
  const { promise: listening, resolve } = Promise.withResolvers<FromThread>();
  worker.on("message", (message: Uint8Array | FromThread) => {
    if (!(message instanceof Uint8Array)) return resolve(message);
    const reader = new FrameReader(message);
    for (; reader.next(); reader.skip()) seen.kinds.add(reader.kind);
    seen.bytes += message.length;
  });
  worker.postMessage({ kind: "listen", at: { host: "127.0.0.1", port: 0, isShared: false } });
  const { port } = (await listening) as Extract<FromThread, { kind: "listening" }>;
  return { port, seen, packets: new PacketPort(worker) };
}

test("reads no more than the main thread takes, and continues when it does", WITHIN, async (t) => {
  const { port, seen, packets } = await started(t);
  const sockets = [1, 2, 3].map(() => connect(port, "127.0.0.1"));
  t.after(() => sockets.forEach((socket) => void socket.destroy()));
  const all = sockets.length * UNTAKEN_BYTES_MAX;
  for (const socket of sockets) socket.write(new Uint8Array(UNTAKEN_BYTES_MAX));
  while (seen.bytes < UNTAKEN_BYTES_MAX) await new Promise(setImmediate);
  // Other connections are not read either: an answer of the thread shows that it has had its turn.
  const last = connect(port, "127.0.0.1");
  await once(last, "connect");
  last.destroy();
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  assert.ok(seen.bytes < UNTAKEN_BYTES_MAX + ONE_READ_BYTES, `${seen.bytes} bytes`);
  let taken = 0;
  while (taken < all) {
    const more = seen.bytes - taken;
    if (more > 0) packets.send(PACKET.took, 0, numberBytes(more));
    taken += more;
    await new Promise(setImmediate);
  }
  assert.ok(seen.kinds.has(PACKET.bytes));
});
