import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import type { DiskFile } from "./disk.ts";
import { FACTS, frameBytes, type Kind, SEAL, TRIM, viewOf, writeFrame } from "./frame.ts";
import { wasSynced } from "./search.ts";
import { HEADER_BYTES, writeHeader } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

/** The soak sets more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);
/** No input may hold up the process longer; the rest of the machine may. */
const CPU_MS_MAX = 50;

/** A small generator of our own: the failing seed is all that is needed to try again. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function fileOf(bytes: Buffer): DiskFile {
  return {
    read: async (into, at) => bytes.copy(into, 0, at, at + into.length),
    write: async () => 0,
    sync: async () => {},
    truncate: async () => {},
    sizeBytes: async () => bytes.length,
    isAt: () => true,
    close: async () => {},
  };
}

function segmentOf(next: (below: number) => number): { bytes: Buffer; heads: number[] } {
  const bytes = Buffer.alloc(7 * 70_100);
  const view = viewOf(bytes);
  writeHeader(view, { base: 0, trimmed: 0, link: 0 });
  const heads: number[] = [];
  let end = HEADER_BYTES;
  let link = 0;
  for (let count = next(6); count >= 0; count--) {
    const kind = ([FACTS, FACTS, FACTS, TRIM, SEAL] as const satisfies Kind[])[next(5)]!;
    const body = Buffer.alloc(next(20) === 0 ? 70_000 : next(200), next(256));
    heads.push(end);
    const fields = { kind, position: end, unsynced: next(end), link };
    link = writeFrame(bytes, view, end, fields, body);
    end += frameBytes(body.length);
  }
  return { bytes: bytes.subarray(0, end), heads };
}

/** Bytes to be read: noise, or a segment with changes, some of them under a right checksum. */
function inputOf(next: (below: number) => number): Buffer {
  if (next(10) === 0) return Buffer.from(Array.from({ length: next(300) }, () => next(256)));
  const { bytes, heads } = segmentOf(next);
  for (let changes = next(4); changes > 0; changes--) bytes[next(bytes.length)] = next(256);
  if (next(3) === 0) {
    const head = heads[next(heads.length)]!;
    const field = head + 4 * (1 + next(7));
    bytes.writeUInt32LE([0, 1, 0x7fffffff, 0xffffffff, next(2 ** 32)][next(5)]!, field);
    const length = Math.min(bytes.readUInt32LE(head + 12), bytes.length);
    const end = Math.min(bytes.length, head + 32 + 4 * Math.ceil(length / 65536));
    bytes.writeUInt32LE(crc32(bytes.subarray(head + 4, end)), head);
  }
  return next(4) === 0 ? bytes.subarray(0, next(bytes.length)) : bytes;
}

async function readThrough(bytes: Buffer): Promise<void> {
  const file = fileOf(bytes);
  const reader = new SegmentReader(file, 0, bytes.length);
  await reader.header();
  let frames = 0;
  do {
    for (let frame = reader.take(); frame !== undefined; frame = reader.take()) {
      assert.equal(frame.body.length, frame.length);
      frames++;
    }
  } while (await reader.fill());
  assert.ok(frames <= bytes.length / HEADER_BYTES);
  assert.ok(reader.flaw !== undefined || reader.offset >= bytes.length);
  await wasSynced(
    { file, base: 0, sizeBytes: bytes.length },
    Math.min(reader.offset, bytes.length),
  );
}

test(`the reader of segments takes ${INPUTS} random and damaged inputs`, async () => {
  for (let seed = 1; seed <= INPUTS; seed++) {
    const bytes = inputOf(random(seed));
    const before = process.cpuUsage();
    try {
      await readThrough(bytes);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
    const { user } = process.cpuUsage(before);
    assert.ok(user / 1000 <= CPU_MS_MAX, `seed ${seed} took ${user / 1000} ms`);
  }
});
