import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameReader } from "@sluice/protocol/wire";
import { bodyOf, closeBytes, closeOf, PacketPort, upgradeBytes, upgradeOf } from "./packets.ts";

/** A port, and the batches that have left it. */
function opened() {
  const batches: Uint8Array[] = [];
  return { batches, port: new PacketPort({ postMessage: (batch) => void batches.push(batch) }) };
}

test("packets of one turn leave together and in order, as one message", async () => {
  const { batches, port } = opened();
  for (let id = 1; id <= 3; id++) port.send(7, id, new Uint8Array(id).fill(id));
  assert.equal(batches.length, 0);
  await new Promise(setImmediate);
  assert.equal(batches.length, 1);
  const reader = new FrameReader(batches[0]!);
  for (let id = 1; id <= 3; id++) {
    assert.ok(reader.next());
    assert.deepEqual([reader.kind, reader.operation], [7, id]);
    assert.deepEqual([...bodyOf(reader, batches[0]!)], Array(id).fill(id));
  }
  assert.equal(reader.next(), false);
});

test("a small body does not keep the memory of its batch, a large one is not copied", () => {
  const { batches, port } = opened();
  port.send(1, 1, new Uint8Array(1000));
  port.send(1, 2, new Uint8Array(10));
  port.flush();
  const batch = batches[0]!;
  const reader = new FrameReader(batch);
  reader.next();
  assert.equal(bodyOf(reader, batch).buffer, batch.buffer);
  reader.next();
  const small = bodyOf(reader, batch);
  assert.equal(small.buffer.byteLength, small.length);
});

test("an upgrade and a close are read as they were written", () => {
  const request = { method: "GET", url: "/v1/stream", headers: { upgrade: "é" }, seenBytes: 12 };
  const { request: read, head } = upgradeOf(upgradeBytes(request, Uint8Array.of(1, 2)));
  assert.deepEqual(read, request);
  assert.deepEqual([...head], [1, 2]);
  assert.deepEqual(closeOf(closeBytes(1001, "é")), { code: 1001, reason: "é" });
});
