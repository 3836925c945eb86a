// Damaged files: bits, pages, ends, whole segments. The log must refuse to open, or cut no more
// than an unconfirmed tail could have been; it never answers anything else than what was appended,
// and it never removes anything.

import assert from "node:assert/strict";
import type { Processes } from "@sluice/log";
import { Random } from "../random.ts";
import type { LogModule } from "./life.ts";
import { DIR, fileIn, SimDisk } from "./sim-disk.ts";

const SEGMENT_BYTES = 4096;

const processes: Processes = {
  self: () => ({ pid: 1, startedTicks: 1, bootId: "a" }),
  isRunning: () => false,
};

// A healthy log, and what it holds. Each batch was confirmed before the next was appended.
export interface Healthy {
  readonly disk: SimDisk;
  readonly isSealed: boolean;
  readonly batches: readonly string[];
  // How many batches are in segments before the newest.
  readonly beforeNewest: number;
  // Where the last write to the newest segment begins: its frame is the witness for all before it.
  readonly witnessAt: number;
}

export async function makeHealthy(module: LogModule, seed: number): Promise<Healthy> {
  const random = new Random(seed);
  const disk = new SimDisk(random);
  const isSealed = random.chance(0.5);
  const onTorn = (): void => {};
  const options = { dir: DIR, disk, processes, segmentBytes: SEGMENT_BYTES, onTorn };
  const log = await module.FileLog.open(options);
  for await (const _batch of log.replay());
  const all: { position: number; text: string }[] = [];
  const count = random.between(20, 60);
  for (let index = 0; index < count; index++) {
    const facts = Buffer.alloc(random.below(random.chance(0.05) ? 9000 : 600), index + 1);
    all.push({ position: await log.append(facts), text: facts.toString("latin1") });
  }
  const end = log.spans().at(-1)!.end;
  if (random.chance(0.5)) await log.trim(all[random.below(count)]!.position);
  const spans = log.spans();
  const kept = all.filter(({ position }) => position >= spans[0]!.first);
  const newest = spans.at(-1)!;
  const base = newest.end - newest.sizeBytes;
  const isNoted = newest.end > end;
  const last = isSealed ? newest.end : isNoted ? end : all.at(-1)!.position;
  if (isSealed) await log.close();
  return {
    disk: disk.copy(),
    isSealed,
    batches: kept.map(({ text }) => text),
    beforeNewest: kept.filter(({ position }) => position < newest.first).length,
    witnessAt: last === newest.first ? 0 : last - base,
  };
}

// Answers what became of it: "refused", "cut" or "whole".
export async function damageOnce(
  module: LogModule,
  healthy: Healthy,
  seed: number,
): Promise<string> {
  const random = new Random(seed);
  const disk = healthy.disk.copy();
  const { what, isNewest, until } = damage(disk, random);
  // Without its witness a confirmed batch looks like one that was never complete, unless the log
  // was closed properly: then its end is recorded.
  const isCut = !healthy.isSealed && isNewest && until >= healthy.witnessAt;
  const before = disk.files(DIR);
  try {
    return await judge(module, healthy, disk, before, isCut);
  } catch (error) {
    throw new Error(`${what}, seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

async function judge(
  module: LogModule,
  healthy: Healthy,
  disk: SimDisk,
  before: ReadonlyMap<string, Uint8Array>,
  isCut: boolean,
): Promise<string> {
  const answer = await readBatches(module, disk);
  if (answer.error !== undefined) {
    const { code, details } = answer.error;
    assert.ok(code === "LOG_DAMAGED" || code === "LOG_VERSION", `refused with ${code}`);
    assert.ok(typeof details?.file === "string" && typeof details.offset === "number");
    assertUnchanged(disk, before, segmentsOf(before).length);
    return "refused";
  }
  const { batches } = answer;
  const told = `${batches.length} of ${healthy.batches.length}`;
  for (const [index, text] of batches.entries()) {
    assert.equal(text === healthy.batches[index], true, `something else at ${index}`);
  }
  assert.ok(batches.length >= healthy.beforeNewest, `segments were skipped: ${told}`);
  const isWhole = batches.length === healthy.batches.length;
  assert.ok(isCut || isWhole, `confirmed batches were cut: ${told}`);
  assertUnchanged(disk, before, segmentsOf(before).length - 1);
  return isWhole ? "whole" : "cut";
}

interface Answer {
  readonly batches: string[];
  readonly error?: { code?: string; details?: Record<string, unknown> };
}

async function readBatches(module: LogModule, disk: SimDisk): Promise<Answer> {
  const batches: string[] = [];
  const onTorn = (): void => {};
  const options = { dir: DIR, disk, processes, segmentBytes: SEGMENT_BYTES, onTorn };
  let log: Awaited<ReturnType<LogModule["FileLog"]["open"]>> | undefined;
  try {
    log = await module.FileLog.open(options);
    for await (const { facts } of log.replay()) batches.push(Buffer.from(facts).toString("latin1"));
    return { batches };
  } catch (error) {
    return { batches, error: error as NonNullable<Answer["error"]> };
  }
}

// The oldest `count` segments are as they were; the newest one has lost its end at most.
function assertUnchanged(
  disk: SimDisk,
  before: ReadonlyMap<string, Uint8Array>,
  count: number,
): void {
  const after = disk.files(DIR);
  for (const [index, name] of segmentsOf(before).entries()) {
    const [was, is] = [before.get(name)!, after.get(name)];
    assert.ok(is !== undefined, `${name} was removed`);
    const same = index < count ? was : was.subarray(0, is.length);
    assert.equal(Buffer.compare(same, is), 0, `${name} was changed`);
  }
}

function segmentsOf(files: ReadonlyMap<string, Uint8Array>): string[] {
  return [...files.keys()].filter((name) => name.endsWith(".log")).sort();
}

interface Harm {
  readonly what: string;
  readonly isNewest: boolean;
  // Behind this offset nothing was touched.
  readonly until: number;
}

function damage(disk: SimDisk, random: Random): Harm {
  const files = disk.files(DIR);
  const names = segmentsOf(files);
  const name = random.pick(names);
  const bytes = files.get(name)!;
  const isNewest = name === names.at(-1);
  const other = random.pick(names);
  const kind = random.weighted({ bits: 6, zero: 4, noise: 2, cut: 3, grow: 1, swap: 2, remove: 1 });
  const at = random.below(bytes.length);
  let until = Number.POSITIVE_INFINITY;
  if (kind === "bits") until = flipSome(bytes, random);
  if (kind === "zero") {
    const start = at - (at % 512);
    until = start + random.pick([512, 4096]);
    bytes.fill(0, start, until);
  }
  if (kind === "noise") {
    until = Math.min(at + 64, bytes.length);
    bytes.set(noise(until - at, random), at);
  }
  if (kind === "cut") disk.put(fileIn(name), bytes.subarray(0, at));
  else if (kind === "grow") disk.put(fileIn(name), Buffer.concat([bytes, noise(300, random)]));
  else if (kind === "remove") disk.remove(fileIn(name));
  else disk.put(fileIn(name), kind === "swap" ? files.get(other)! : bytes);
  if (kind === "swap" && random.chance(0.7)) disk.put(fileIn(other), bytes);
  return { what: `${kind} ${name}`, isNewest, until };
}

// Answers the last offset that was touched.
function flipSome(bytes: Uint8Array, random: Random): number {
  let last = 0;
  for (let left = random.between(1, 3); left > 0; left--) {
    const at = random.below(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
    last = Math.max(last, at);
  }
  return last;
}

function noise(length: number, random: Random): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

// Repairs a damaged log: it must open then, with what was intact, and the originals must be kept.
export async function repairOnce(
  module: LogModule,
  healthy: Healthy,
  seed: number,
): Promise<boolean> {
  const random = new Random(seed);
  const disk = healthy.disk.copy();
  const { what } = damage(disk, random);
  const before = disk.files(DIR);
  if ((await readBatches(module, disk.copy())).error === undefined) return false;
  try {
    const { aside, lost } = await module.repairLog(DIR, { disk, processes });
    assert.ok(aside !== undefined, "nothing was done");
    const { batches, error } = await readBatches(module, disk);
    assert.equal(error, undefined);
    assert.ok(isSubsequence(batches, healthy.batches), "something that was never there");
    const isWhole = batches.length === healthy.batches.length;
    assert.ok(isWhole || lost.length > 0, "batches are missing, and nothing is reported as lost");
    const kept = disk.files(aside);
    for (const name of segmentsOf(before)) {
      const copy = kept.get(name);
      assert.ok(copy !== undefined, `${name} was not kept`);
      assert.equal(Buffer.compare(copy, before.get(name)!), 0, `${name} was not kept as it was`);
    }
    return true;
  } catch (error) {
    throw new Error(`repair of ${what}, seed ${seed}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let from = 0;
  for (const text of part) {
    const at = whole.indexOf(text, from);
    if (at === -1) return false;
    from = at + 1;
  }
  return true;
}
