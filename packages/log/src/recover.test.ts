import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { crc32 } from "node:zlib";
import { checkLog } from "./check.ts";
import { FileLog } from "./file-log.ts";
import type { Position } from "./log.ts";
import { repairLog } from "./repair.ts";

const SEGMENT_BYTES = 4096;
const FACTS_BYTES = 300;

let root = "";
/** A log with several segments, as it is after a kill: nothing was closed. */
let healthy = "";
const positions: Position[] = [];

before(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-recover-"));
  const dir = join(root, "open");
  const log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES });
  for await (const _batch of log.replay());
  for (let index = 0; index < 45; index++) {
    positions.push(await log.append(Buffer.alloc(FACTS_BYTES, index)));
  }
  healthy = join(root, "healthy");
  await cp(dir, healthy, { recursive: true, filter: (path) => !path.includes("lock.") });
  await log.close();
});

after(() => rm(root, { recursive: true }));

let copies = 0;

async function copyOf(): Promise<{ dir: string; segments: string[] }> {
  const dir = join(root, `copy-${copies++}`);
  await cp(healthy, dir, { recursive: true });
  return { dir, segments: (await readdir(dir)).sort() };
}

async function replay(dir: string): Promise<{ count: number; tornBytes: number }> {
  await using log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES });
  let count = 0;
  for await (const { position, facts } of log.replay()) {
    assert.equal(position, positions[count]);
    assert.ok(facts.every((byte) => byte === count));
    count++;
  }
  return { count, tornBytes: log.torn?.sizeBytes ?? 0 };
}

async function change(path: string, act: (bytes: Buffer) => Buffer | undefined): Promise<void> {
  const bytes = await readFile(path);
  await writeFile(path, act(bytes) ?? bytes);
}

function refused(dir: string, code: string, file: string, offset: number): Promise<void> {
  return assert.rejects(replay(dir), (error) => {
    const { code: ours, details } = error as { code: string; details: Record<string, unknown> };
    assert.deepEqual([ours, details.file, details.offset], [code, join(dir, file), offset]);
    return true;
  });
}

test("a log that was not closed opens with all of it", async () => {
  const { dir } = await copyOf();
  assert.deepEqual(await replay(dir), { count: 45, tornBytes: 0 });
  assert.deepEqual(await replay(dir), { count: 45, tornBytes: 0 });
});

test("cuts a torn frame at the end, and reports its bytes", async () => {
  const { dir, segments } = await copyOf();
  const newest = join(dir, segments.at(-1)!);
  const { length } = await readFile(newest);
  await truncate(newest, length - 100);
  const frame = FACTS_BYTES + 36;
  assert.deepEqual(await replay(dir), { count: 44, tornBytes: frame - 100 });
  assert.deepEqual(await replay(dir), { count: 44, tornBytes: 0 });
});

test("zeros behind the end are cut", async () => {
  const { dir, segments } = await copyOf();
  await change(join(dir, segments.at(-1)!), (bytes) => Buffer.concat([bytes, Buffer.alloc(5000)]));
  assert.deepEqual(await replay(dir), { count: 45, tornBytes: 5000 });
});

test("a broken frame with confirmed ones behind it is damage in the newest segment", async () => {
  const { dir, segments } = await copyOf();
  const offset = positions[43]! - Number.parseInt(segments.at(-1)!, 10);
  await change(join(dir, segments.at(-1)!), (bytes) => {
    bytes[offset + 200]! ^= 1;
    return undefined;
  });
  await refused(dir, "LOG_DAMAGED", segments.at(-1)!, offset);
});

test("a broken frame in an older segment is damage, whatever follows it", async () => {
  const { dir, segments } = await copyOf();
  const base = Number.parseInt(segments[1]!, 10);
  const last = positions.filter((position) => position < Number.parseInt(segments[2]!, 10)).at(-1)!;
  await change(join(dir, segments[1]!), (bytes) => {
    bytes[last - base + 100]! ^= 1;
    return undefined;
  });
  await refused(dir, "LOG_DAMAGED", segments[1]!, last - base);
});

test("a missing segment is damage, the oldest one too", async () => {
  for (const index of [0, 1]) {
    const { dir, segments } = await copyOf();
    await rm(join(dir, segments[index]!));
    const size = Number.parseInt(segments[1]!, 10);
    await refused(dir, "LOG_DAMAGED", segments[0]!, index === 0 ? 0 : size);
  }
});

test("two segments that changed places are damage", async () => {
  const { dir, segments } = await copyOf();
  const bytes = await readFile(join(dir, segments[0]!));
  await writeFile(join(dir, segments[0]!), await readFile(join(dir, segments[1]!)));
  await writeFile(join(dir, segments[1]!), bytes);
  await refused(dir, "LOG_DAMAGED", segments[0]!, 0);
});

test("a segment of another log with the same name is damage", async () => {
  const { dir, segments } = await copyOf();
  const other = join(root, "other");
  const log = await FileLog.open({ dir: other, segmentBytes: SEGMENT_BYTES });
  for await (const _batch of log.replay());
  for (let index = 0; index < 45; index++) await log.append(Buffer.alloc(FACTS_BYTES, 99));
  await log.close();
  await cp(join(other, segments[1]!), join(dir, segments[1]!));
  await refused(dir, "LOG_DAMAGED", segments[1]!, 0);
});

test("a segment and a frame of a newer version are named as such", async () => {
  const { dir, segments } = await copyOf();
  await change(join(dir, segments[0]!), (bytes) => {
    bytes[7] = 2;
    bytes.writeUInt32LE(crc32(bytes.subarray(4, 32)), 0);
    return undefined;
  });
  await refused(dir, "LOG_VERSION", segments[0]!, 0);
  await assert.rejects(checkLog(dir), { code: "LOG_VERSION" });

  const second = await copyOf();
  const newest = second.segments.at(-1)!;
  const offset = positions[44]! - Number.parseInt(newest, 10);
  await change(join(second.dir, newest), (bytes) => {
    bytes[offset + 7] = 2;
    bytes.writeUInt32LE(crc32(bytes.subarray(offset + 4, offset + 36)), offset);
    return undefined;
  });
  await refused(second.dir, "LOG_VERSION", newest, offset);
});

test("a log that was closed in order misses even its last frame", async () => {
  const { dir, segments } = await copyOf();
  await replay(dir);
  const newest = segments.at(-1)!;
  const offset = positions[44]! - Number.parseInt(newest, 10);
  await change(join(dir, newest), (bytes) => {
    bytes[offset + 100]! ^= 1;
    return undefined;
  });
  await refused(dir, "LOG_DAMAGED", newest, offset);
});

test("starts a segment again if its header is not complete", async () => {
  const { dir, segments } = await copyOf();
  const newest = join(dir, segments.at(-1)!);
  const { length } = await readFile(newest);
  const next = Number.parseInt(segments.at(-1)!, 10) + length;
  await writeFile(join(dir, `${String(next).padStart(16, "0")}.log`), Buffer.alloc(20));
  assert.deepEqual(await replay(dir), { count: 45, tornBytes: 20 });
  await using log = await FileLog.open({ dir });
  for await (const _batch of log.replay());
  assert.equal(await log.append(Buffer.alloc(1)), next + 32);
});

/** The same log, closed in order. */
async function closedCopy(): Promise<{ dir: string; newest: string; bytes: Buffer }> {
  const { dir, segments } = await copyOf();
  await replay(dir);
  const newest = segments.at(-1)!;
  return { dir, newest, bytes: await readFile(join(dir, newest)) };
}

test("a log that was closed in order and cut later is damaged, wherever it was cut", async () => {
  const frame = FACTS_BYTES + 36;
  for (const missingBytes of [1, 32, 33, 32 + frame, 32 + 2 * frame + 5]) {
    const { dir, newest, bytes } = await closedCopy();
    await truncate(join(dir, newest), bytes.length - missingBytes);
    // What is whole ends with a frame: the seal takes 32 bytes.
    const framesLost = Math.max(0, Math.ceil((missingBytes - 32) / frame));
    const offset = bytes.length - 32 - framesLost * frame;
    await refused(dir, "LOG_DAMAGED", newest, offset);
    const { damages } = await checkLog(dir);
    assert.deepEqual(
      damages.map(({ file, offset: at, lengthBytes }) => [file, at, lengthBytes]),
      [[join(dir, newest), offset, bytes.length - offset]],
    );
  }
});

test("a log that was closed in order and lost whole files is damaged", async () => {
  const { dir, newest } = await closedCopy();
  await rm(join(dir, newest));
  await refused(dir, "LOG_DAMAGED", newest, 0);
  assert.equal((await checkLog(dir)).damages[0]?.file, join(dir, newest));
  for (const name of await readdir(dir)) if (name.endsWith(".log")) await rm(join(dir, name));
  await refused(dir, "LOG_DAMAGED", newest, 0);
  assert.equal((await checkLog(dir)).damages[0]?.file, join(dir, newest));
});

test("after a repair, a log that was cut opens, and its end is recorded again", async () => {
  const { dir, newest, bytes } = await closedCopy();
  await truncate(join(dir, newest), bytes.length - 40);
  const { lost, aside } = await repairLog(dir);
  assert.equal(lost.length, 1);
  assert.equal((await readdir(aside!)).filter((name) => name.endsWith(".end")).length, 1);
  await using log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES });
  let count = 0;
  for await (const _batch of log.replay()) count++;
  assert.equal(count, 44);
});

test("a log that continues after an orderly end may be torn only behind that end", async () => {
  const { dir, newest, bytes } = await closedCopy();
  const kept = join(root, `copy-${copies++}`);
  const log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES });
  for await (const _batch of log.replay());
  await log.append(Buffer.alloc(FACTS_BYTES, 45));
  await cp(dir, kept, { recursive: true, filter: (path) => !path.includes("lock.") });
  await log.close();
  await truncate(join(kept, newest), bytes.length + 100);
  assert.deepEqual(await replay(kept), { count: 45, tornBytes: 100 });
});
