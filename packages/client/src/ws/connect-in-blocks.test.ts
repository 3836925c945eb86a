import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { connectInBlocks } from "./connect-in-blocks.ts";

/** More than one block, and no multiple of a read. */
const BYTES = 1_000_003;

const byteAt = (index: number): number => (index * 31 + (index >> 8)) & 0xff;

async function pair(): Promise<{ ours: Socket; theirs: Socket } & AsyncDisposable> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "connection");
  const ours = connectInBlocks({ port, host: "127.0.0.1" });
  const [theirs] = (await accepted) as [Socket];
  const end = async (): Promise<void> => {
    ours.destroy();
    theirs.destroy();
    server.close();
  };
  return { ours, theirs, [Symbol.asyncDispose]: end };
}

test("all bytes arrive in order, and those that are kept do not change", async () => {
  await using both = await pair();
  const { ours, theirs } = both;
  const kept: Buffer[] = [];
  ours.on("data", (bytes: Buffer) => kept.push(bytes));
  const all = Buffer.from(Uint8Array.from({ length: BYTES }, (_, index) => byteAt(index)));
  for (let at = 0; at < BYTES; at += 77_777) theirs.write(all.subarray(at, at + 77_777));
  theirs.end();
  await once(ours, "end");
  assert.ok(kept.length > 1);
  assert.equal(Buffer.concat(kept).equals(all), true);
});

test("a connection that is paused brings nothing until it is resumed", async () => {
  await using both = await pair();
  const { ours, theirs } = both;
  let bytes = 0;
  ours.on("data", (some: Buffer) => (bytes += some.length));
  if (ours.connecting) await once(ours, "connect");
  ours.pause();
  theirs.write(Buffer.alloc(1000));
  theirs.end();
  await once(theirs, "finish");
  assert.equal(bytes, 0);
  ours.resume();
  await once(ours, "end");
  assert.equal(bytes, 1000);
});
