// A disk that fails once, or from some call on. The log must stop for good: it confirms nothing
// more and writes nothing more, and a later start finds all that was confirmed.

import assert from "node:assert/strict";
import type { FileLog } from "@sluice/log";
import { Random } from "../random.ts";
import { type LogModule, LogStory } from "./life.ts";
import { type DiskCall, type DiskCallName, type Fault, SimDisk } from "./sim-disk.ts";

const STEPS = 45;

// By name, which calls fail and how. A short write is no error: the rest is written again.
const FAULTS: Record<string, { calls: readonly DiskCallName[]; fault: Fault; isLasting: boolean }> =
  {
    "EIO of a sync": { calls: ["sync"], fault: { error: "EIO" }, isLasting: false },
    "EIO of a write": { calls: ["write"], fault: { error: "EIO" }, isLasting: false },
    "EIO of a directory sync": { calls: ["syncDir"], fault: { error: "EIO" }, isLasting: false },
    "EIO of an unlink": { calls: ["unlink"], fault: { error: "EIO" }, isLasting: false },
    "a full disk": {
      calls: ["write", "create", "link"],
      fault: { error: "ENOSPC" },
      isLasting: true,
    },
    "a short write": { calls: ["write"], fault: { bytes: 7 }, isLasting: false },
    "a write of nothing": { calls: ["write"], fault: { bytes: 0 }, isLasting: false },
  };

export async function failOnce(module: LogModule, seed: number): Promise<void> {
  const random = new Random(seed);
  const name = random.pick(Object.keys(FAULTS));
  const story = new LogStory(module, random, "fsync");
  const disk = new SimDisk(random);
  try {
    // The first life makes a log that is worth opening.
    await (await story.work(disk, STEPS)).close();
    await liveUntilError(story, disk, random, name);
    story.reboot();
    // What the cache holds must be whole, and still be there when the power fails later.
    await story.work(disk, STEPS);
    story.reboot();
    await (await story.open(disk.crash())).close();
  } catch (error) {
    throw new Error(`${name}, seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

async function liveUntilError(
  story: LogStory,
  disk: SimDisk,
  random: Random,
  name: string,
): Promise<void> {
  const { calls, fault, isLasting } = FAULTS[name]!;
  let left = random.below(25);
  let isOver = false;
  let stopped: FileLog | undefined;
  const late: string[] = [];
  disk.onCall = (call) => {
    if (stopped !== undefined && stopped === story.log && isChange(call)) {
      late.push(`${call.name} ${call.path}`);
    }
    if (isOver) return isLasting && calls.includes(call.name) ? fault : undefined;
    if (!calls.includes(call.name) || left-- > 0) return undefined;
    isOver = fault !== undefined && !("bytes" in fault && fault.bytes > 0);
    // What is under way when the error comes may go on; nothing may begin after it.
    const { log } = story;
    log?.failed.then(() => {
      stopped = log;
    });
    return fault;
  };
  let log: FileLog | undefined;
  try {
    log = await story.work(disk, STEPS);
  } catch (error) {
    assert.equal((error as { code?: string }).code, "LOG_FAILED", (error as Error).message);
  }
  const opened = log ?? story.log;
  if (isOver && log === undefined && opened !== undefined) await mustBeStopped(opened);
  disk.onCall = () => undefined;
  await opened?.close().catch((error) => assert.ok(isStopped(error)));
  assert.deepEqual(late, [], "the disk was changed after an error");
}

// After an error the log may read, close its files and empty its lock, and nothing else.
function isChange({ name, path }: DiskCall): boolean {
  const isRead = name === "read" || name === "list" || name === "open" || name === "size";
  return !isRead && !path.includes("/lock.");
}

// One that failed while it was closed is both.
const isStopped = ({ code }: { code?: string }): boolean =>
  code === "LOG_FAILED" || code === "CLOSED";

async function mustBeStopped(log: FileLog): Promise<void> {
  for (let tries = 0; tries < 3; tries++) {
    await assert.rejects(log.append(new Uint8Array(9)), isStopped);
  }
  await assert.rejects(log.trim(Number.MAX_SAFE_INTEGER), isStopped);
  assert.equal((await log.failed).code, "LOG_FAILED");
}
