import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkLog } from "./check.ts";
import { FileLog } from "./file-log.ts";
import type { Position } from "./log.ts";
import { repairLog } from "./repair.ts";

const SEGMENT_BYTES = 4096;

interface Made {
  readonly dir: string;
  readonly positions: readonly Position[];
  readonly segments: readonly string[];
}

function testWithLog(name: string, act: (made: Made) => Promise<void>): void {
  test(name, async () => {
    const dir = await mkdtemp(join(tmpdir(), "sluice-repair-"));
    try {
      const log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES });
      for await (const _batch of log.replay());
      const positions: Position[] = [];
      for (let index = 0; index < 40; index++) {
        positions.push(await log.append(Buffer.alloc(300, index)));
      }
      await log.close();
      const segments = (await readdir(dir)).filter((each) => each.endsWith(".log")).sort();
      await act({ dir, positions, segments });
    } finally {
      await rm(dir, { recursive: true });
    }
  });
}

async function replayed(dir: string): Promise<number[]> {
  await using log = await FileLog.open({ dir });
  const bytes: number[] = [];
  for await (const { facts } of log.replay()) bytes.push(facts[0]!);
  return bytes;
}

/** Breaks one byte of the batch; answers the damage that must be reported for it. */
async function breakBatch({ dir, positions, segments }: Made, index: number) {
  const position = positions[index]!;
  const segment = segments.findLast((each) => Number.parseInt(each, 10) <= position)!;
  const file = join(dir, segment);
  const offset = position - Number.parseInt(segment, 10);
  const bytes = await readFile(file);
  bytes[offset + 99]! ^= 1;
  await writeFile(file, bytes);
  const what = "the frame does not fit its checksum";
  return { file, offset, lengthBytes: 336, what };
}

testWithLog("a check of a healthy log counts it and finds nothing", async ({ dir, segments }) => {
  const seen: number[] = [];
  const report = await checkLog(dir, { onProgress: (done, total) => seen.push(done / total) });
  assert.equal(report.batches, 40);
  assert.equal(report.factsBytes, 40 * 300);
  assert.equal(report.segments.length, segments.length);
  assert.deepEqual([report.damages, report.tornBytes], [[], 0]);
  assert.equal(seen.at(-1), 1);
  assert.deepEqual((await repairLog(dir)).aside, undefined);
});

testWithLog("a check tells every damage with file, offset and length", async (made) => {
  const damages = [await breakBatch(made, 5), await breakBatch(made, 30)];
  const report = await checkLog(made.dir);
  assert.deepEqual(report.damages, damages);
  assert.equal(report.batches, 38);
});

testWithLog("a repair keeps what is intact and puts the originals aside", async (made) => {
  const { dir, segments } = made;
  const lost = [await breakBatch(made, 5), await breakBatch(made, 30)];
  const originals = await Promise.all(segments.map((each) => readFile(join(dir, each))));
  await assert.rejects(replayed(dir), { code: "LOG_DAMAGED" });
  const report = await repairLog(dir);
  assert.deepEqual(report.lost, lost);
  const kept = Array.from({ length: 40 }, (_, index) => index).filter((n) => n !== 5 && n !== 30);
  assert.deepEqual(await replayed(dir), kept);
  for (const [index, each] of segments.entries()) {
    assert.deepEqual(await readFile(join(report.aside!, each)), originals[index]);
  }
  const after = await readdir(dir);
  assert.ok(after.every((name) => !segments.includes(name)));
});

testWithLog("a repaired log uses no position twice", async (made) => {
  await breakBatch(made, 5);
  await repairLog(made.dir);
  await using log = await FileLog.open({ dir: made.dir });
  for await (const { position } of log.replay()) assert.ok(position > made.positions.at(-1)!);
});

testWithLog("an interrupted repair is refused and finished by another one", async (made) => {
  const { dir, segments } = made;
  await breakBatch(made, 5);
  const { aside } = await repairLog(dir);
  // As if it had been interrupted while it moved the files: some are not moved yet.
  await rename(join(aside!, "report.json"), join(dir, "repairing.json"));
  await rename(join(aside!, segments[0]!), join(dir, segments[0]!));
  const repaired = (await readdir(dir)).find(
    (each) => each.endsWith(".log") && each !== segments[0],
  );
  await rename(join(dir, repaired!), join(aside!, "intact", repaired!));
  await assert.rejects(replayed(dir), { code: "LOG_DAMAGED" });
  await assert.rejects(checkLog(dir), { code: "LOG_DAMAGED" });
  const report = await repairLog(dir);
  assert.equal(report.lost.length, 1);
  assert.equal((await replayed(dir)).length, 39);
});

testWithLog("a log that is in use is neither checked nor repaired", async ({ dir }) => {
  await using _log = await FileLog.open({ dir });
  await assert.rejects(checkLog(dir), { code: "LOG_LOCKED" });
  await assert.rejects(repairLog(dir), { code: "LOG_LOCKED" });
});

test("a directory that does not exist is not made by a check", async () => {
  const dir = join(tmpdir(), "sluice-that-does-not-exist");
  await assert.rejects(checkLog(dir), { code: "LOG_FAILED" });
  await assert.rejects(readdir(dir), { code: "ENOENT" });
});
