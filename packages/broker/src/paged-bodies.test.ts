import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "@sluice/engine";
import { MemoryLog } from "@sluice/log";
import { Chunks, readBodies } from "./chunks.ts";
import { type Body, plainHeaders, writeBody } from "./codec/body.ts";
import { ByteWriter } from "./codec/byte-writer.ts";
import { PagedBodies } from "./paged-bodies.ts";

const COUNT = 300;
const BLOCK_BYTES = 64 * 1024;

const jobs = Array.from({ length: COUNT }, (_, id) => ({ id }));

interface Paged {
  readonly chunks: Chunks;
  /** Of the bodies, by their index. */
  readonly names: number[];
  /** What was asked of the log: offset and length. */
  readonly asked: [number, number][];
  /** Lets reads that wait continue. */
  letGo(): void;
}

const payloadOf = (index: number): Uint8Array => new Uint8Array(500).fill(index);

/** Bodies of 508 bytes in one batch, and a log that reads a block before it has it at hand. */
async function paged(): Promise<Paged> {
  const all = jobs.map(({ id }) => bytesOf({ headers: plainHeaders({}), payload: payloadOf(id) }));
  const starts = all.map((_, index) => index * 508);
  const log = new MemoryLog();
  for await (const _ of log.replay()) assert.fail("a new log is empty");
  const facts = Buffer.concat(all);
  const position = await log.append(facts);
  const asked: Paged["asked"] = [];
  const atHand = new Set<number>();
  const gate = Promise.withResolvers<void>();
  const read = log.read.bind(log);
  log.read = (at, offset, length) => {
    asked.push([offset, length]);
    const block = Math.floor(offset / BLOCK_BYTES);
    if (atHand.has(block)) return read(at, offset, length);
    // biome-ignore lint/suspicious/noExplicitAny: a log may answer later, this one does not.
    return gate.promise.then(() => atHand.add(block) && read(at, offset, length)) as any;
  };
  const chunks = new Chunks(log, 0, 1 << 20);
  const chunk = chunks.make(undefined);
  const before = 1000;
  chunk.size = before + facts.length;
  chunk.isFilled = true;
  chunks.place(chunk, { from: before, to: chunk.size, position, offset: 0 });
  const names = starts.map((at) => chunks.bind(chunk, before + at, 500, 508));
  return { chunks, names, asked, letGo: gate.resolve };
}

function bytesOf(body: Body): Uint8Array {
  const writer = new ByteWriter((needBytes) => new Uint8Array(needBytes));
  writer.begin();
  writeBody(writer, body);
  return writer.bytes.subarray(0, writer.at);
}

const bodyNames = (names: (number | undefined)[]): Engine =>
  ({ body: (id: number) => names[id] }) as unknown as Engine;

test("bodies that are neighbours in the log come with one read for each window", async () => {
  const { chunks, names, asked, letGo } = await paged();
  const reading = readBodies(bodyNames(names), chunks, jobs);
  assert.ok(reading instanceof Promise);
  letGo();
  const bodies = await reading;
  for (const { id } of jobs) assert.deepEqual(bodies[id]!.payload, payloadOf(id), `body ${id}`);
  // Three windows; two bodies reach beyond theirs, and are read alone after their lengths.
  assert.deepEqual(new Set(asked.map(([offset]) => Math.floor(offset / BLOCK_BYTES))).size, 3);
  assert.ok(asked.length < 12, `the log was asked ${asked.length} times`);
});

test("bodies in any order are the same", async () => {
  const { chunks, names, letGo } = await paged();
  letGo();
  const mixed = jobs.map(({ id }) => ({ id: (id * 97) % COUNT }));
  const bodies = await readBodies(bodyNames(names), chunks, mixed);
  for (const [index, { id }] of mixed.entries()) {
    assert.deepEqual(bodies[index]!.payload, payloadOf(id), `body ${id}`);
  }
});

test("a job that has ended while others are read has no body", async () => {
  const { chunks, names, letGo } = await paged();
  const left: (number | undefined)[] = [...names];
  const reading = readBodies(bodyNames(left), chunks, jobs);
  left[7] = undefined;
  letGo();
  const bodies = await reading;
  assert.equal(bodies.length, COUNT);
  assert.equal(bodies[7], undefined);
  assert.deepEqual(bodies[8]!.payload, payloadOf(8));
});

test("a read that fails fails them all", async () => {
  const { chunks, names, letGo } = await paged();
  chunks.release(names[0]!, 500);
  const missing = [...names];
  missing[5] = names[5]! + 2 ** 40;
  const reading = Promise.resolve().then(() => readBodies(bodyNames(missing), chunks, jobs));
  letGo();
  await assert.rejects(reading, { code: "INTERNAL" });
});

test("bodies in memory are answered at once", () => {
  const body: Body = { headers: { a: "b" }, payload: payloadOf(1) };
  const chunks = new Chunks(new MemoryLog(), 1 << 20, 1 << 20);
  const bytes = bytesOf(body);
  const chunk = chunks.make(bytes);
  const name = chunks.bind(chunk, 0, 502, bytes.length);
  assert.deepEqual(readBodies(bodyNames([name]), chunks, [{ id: 0 }]), [body]);
});

test("the window of a batch that has left the log is let go", async () => {
  const log = new MemoryLog();
  for await (const _ of log.replay()) assert.fail("a new log is empty");
  const facts = bytesOf({ headers: plainHeaders({}), payload: payloadOf(1) });
  const position = await log.append(facts);
  const part = { from: 0, to: facts.length, position, offset: 0 };
  let reads = 0;
  const read = log.read.bind(log);
  log.read = (...place) => {
    reads++;
    return read(...place);
  };
  const bodies = new PagedBodies(log);
  await bodies.read(part, 0);
  bodies.forget(position);
  await bodies.read(part, 0);
  assert.equal(reads, 1, "the batch is still there");
  bodies.forget(position + 1);
  await bodies.read(part, 0);
  assert.equal(reads, 2);
});
