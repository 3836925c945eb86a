import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CONFORMANCE_SEGMENT_BYTES, testLog } from "./conformance.ts";
import type { Disk } from "./disk.ts";
import { FileLog } from "./file-log.ts";
import { FACTS_BYTES_MAX, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN } from "./limits.ts";
import { LogStage } from "./log-stage.ts";
import type { FileLogOptions } from "./options.ts";
import { realDisk } from "./real-disk.ts";

for (const durability of ["fsync", "os"] as const) {
  testLog(`file (${durability})`, async () => {
    const dir = await mkdtemp(join(tmpdir(), "sluice-log-"));
    return {
      open: () => FileLog.open({ dir, durability, segmentBytes: CONFORMANCE_SEGMENT_BYTES }),
      destroy: () => rm(dir, { recursive: true }),
    };
  });
}

/** In a directory that is gone afterwards. */
function testIn(name: string, act: (dir: string) => Promise<void>): void {
  test(name, async () => {
    const dir = await mkdtemp(join(tmpdir(), "sluice-log-"));
    try {
      await act(dir);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
}

async function openReady(options: FileLogOptions): Promise<FileLog> {
  const log = await FileLog.open(options);
  for await (const _batch of log.replay());
  return log;
}

/** The real disk, with a look at each call that writes or syncs. */
function watched(onCall: (name: string) => void): Disk {
  return {
    ...realDisk,
    async open(path, how) {
      const file = await realDisk.open(path, how);
      const isSegment = path.endsWith(".log");
      const told = <T>(name: string, act: () => Promise<T>): Promise<T> => {
        if (isSegment) onCall(name);
        return act();
      };
      return {
        read: (into, at) => file.read(into, at),
        write: (bytes, at) => told("write", () => file.write(bytes, at)),
        sync: () => told("sync", () => file.sync()),
        truncate: (size) => file.truncate(size),
        sizeBytes: () => file.sizeBytes(),
        isAt: (path) => file.isAt(path),
        close: () => file.close(),
      };
    },
  };
}

testIn("an append begins its write before it returns", async (dir) => {
  const calls: string[] = [];
  const log = await openReady({ dir, disk: watched((name) => calls.push(name)) });
  await log.append(Buffer.alloc(1));
  calls.length = 0;
  const appended = log.append(Buffer.alloc(1));
  assert.deepEqual(calls, ["write"]);
  await appended;
  await log.close();
});

testIn("an append takes one write and one sync, in the order of the calls", async (dir) => {
  const calls: string[] = [];
  const log = await openReady({ dir, disk: watched((name) => calls.push(name)) });
  const positions = await Promise.all([1, 2, 3].map((size) => log.append(Buffer.alloc(size))));
  assert.deepEqual(calls, ["write", "sync", "write", "sync", "write", "sync"]);
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  await log.close();
});

testIn("with the durability os an append is not synced, but a close is", async (dir) => {
  const calls: string[] = [];
  const disk = watched((name) => calls.push(name));
  const log = await openReady({ dir, disk, durability: "os" });
  await log.append(Buffer.alloc(100));
  assert.deepEqual(calls, ["write"]);
  await log.close();
  assert.deepEqual(calls, ["write", "write", "sync"]);
});

testIn("files and directories are for their owner alone", async (parent) => {
  const dir = join(parent, "a", "b");
  const log = await openReady({ dir });
  await log.append(Buffer.alloc(1));
  await log.close();
  assert.equal((await stat(join(parent, "a"))).mode & 0o777, 0o700);
  assert.equal((await stat(dir)).mode & 0o777, 0o700);
  for (const name of await readdir(dir)) {
    assert.equal((await stat(join(dir, name))).mode & 0o777, 0o600, name);
  }
});

testIn("a directory that is a file is refused", async (dir) => {
  const path = join(dir, "file");
  await writeFile(path, "");
  await assert.rejects(FileLog.open({ dir: path }), { code: "INVALID" });
  await assert.rejects(FileLog.open({ dir: join(path, "below") }), { code: "INVALID" });
});

test("a place where nothing can be made is refused, and does not hang", {
  skip: process.platform === "linux" ? false : "there is no /proc",
}, async () => {
  for (const dir of ["/proc/none", "/proc/none/below"]) {
    await assert.rejects(FileLog.open({ dir }), { code: "LOG_FAILED" });
  }
});

testIn("an error of the disk at the start keeps its code", async (dir) => {
  for (const code of ["EACCES", "ENOSPC", "EROFS"]) {
    const open = async (): Promise<never> => {
      throw Object.assign(new Error("simulated"), { code });
    };
    await assert.rejects(FileLog.open({ dir, disk: { ...realDisk, open } }), (error) => {
      const { code: ours, details } = error as { code: string; details: { code: string } };
      assert.deepEqual([ours, details.code], ["LOG_FAILED", code]);
      return true;
    });
  }
});

testIn("other files in the directory are left alone", async (dir) => {
  await writeFile(join(dir, "notes.txt"), "mine");
  await mkdir(join(dir, "lost+found"));
  const log = await openReady({ dir });
  await log.append(Buffer.alloc(1));
  await log.close();
  assert.ok((await readdir(dir)).includes("notes.txt"));
});

testIn("segments are as large as asked, and one batch may be larger", async (dir) => {
  for (const segmentBytes of [SEGMENT_BYTES_MIN - 1, SEGMENT_BYTES_MAX + 1, 5000.5, Number.NaN]) {
    await assert.rejects(FileLog.open({ dir, segmentBytes }), { code: "INVALID" });
  }
  await (await openReady({ dir, segmentBytes: SEGMENT_BYTES_MAX })).close();
  const log = await openReady({ dir, segmentBytes: SEGMENT_BYTES_MIN });
  for (let index = 0; index < 20; index++) await log.append(Buffer.alloc(200));
  await log.append(Buffer.alloc(10 * SEGMENT_BYTES_MIN));
  await log.append(Buffer.alloc(200));
  const sizes = log.spans().map(({ sizeBytes }) => sizeBytes);
  assert.ok(sizes.slice(0, -2).every((size) => size <= SEGMENT_BYTES_MIN));
  assert.ok(sizes.at(-2)! > 10 * SEGMENT_BYTES_MIN);
  await log.close();
});

test("options are refused by name", async () => {
  for (const [field, value] of [
    ["dir", ""],
    ["dir", 7],
    ["durability", "memory"],
    ["readCacheBytes", -1],
  ] as const) {
    const options = { dir: "unused", [field]: value } as FileLogOptions;
    await assert.rejects(FileLog.open(options), (error) => {
      const { code, details } = error as { code: string; details: { field: string } };
      assert.deepEqual([code, details.field], ["INVALID", field]);
      return true;
    });
  }
});

test("a batch is as large as it may be, and no larger", async () => {
  const life = new LogStage();
  life.beginReplay();
  life.endReplay();
  assert.equal(life.refusalOf(new Uint8Array(FACTS_BYTES_MAX - 1)), undefined);
  assert.equal(life.refusalOf(new Uint8Array(FACTS_BYTES_MAX)), undefined);
  assert.equal(life.refusalOf(new Uint8Array(FACTS_BYTES_MAX + 1))?.code, "INVALID");
});

testIn("what is in the read cache is answered at once", async (dir) => {
  const log = await openReady({ dir });
  const position = await log.append(Buffer.alloc(1000, 5));
  const next = await log.append(Buffer.alloc(1000, 6));
  assert.ok(log.read(position, 0, 10) instanceof Promise);
  await log.read(position, 0, 10);
  for (const [at, byte] of [
    [position, 5],
    [next, 6],
  ] as const) {
    const bytes = log.read(at, 990, 10);
    assert.ok(bytes instanceof Uint8Array, "it has to be read first");
    assert.deepEqual([...bytes], Array(10).fill(byte));
  }
  await log.close();
});

testIn("facts that were damaged after the start are not read", async (dir) => {
  const log = await openReady({ dir, readCacheBytes: 0 });
  const position = await log.append(Buffer.alloc(200_000, 5));
  const file = await open(join(dir, "0000000000000000.log"), "r+");
  await file.write(Buffer.from([4]), 0, 1, position + 100_000);
  await file.close();
  assert.equal((await log.read(position, 10, 10)).length, 10);
  await assert.rejects(async () => log.read(position, 100_000, 1), { code: "LOG_DAMAGED" });
  await log.close();
});

testIn("a log whose directory was moved or replaced confirms nothing more", async (parent) => {
  const [dir, moved] = [join(parent, "log"), join(parent, "moved")];
  for (const isReplaced of [false, true]) {
    const log = await openReady({ dir });
    await log.append(Buffer.alloc(1));
    await rename(dir, moved);
    if (isReplaced) await cp(moved, dir, { recursive: true });
    await assert.rejects(log.append(Buffer.alloc(1)), { code: "LOG_FAILED" });
    assert.equal((await log.failed).code, "LOG_FAILED");
    await log.close();
    await rm(dir, { recursive: true, force: true });
    await rename(moved, dir);
  }
  const again = await openReady({ dir });
  await again.append(Buffer.alloc(1));
  await again.close();
});

testIn("a log that another process has taken over confirms nothing more", async (dir) => {
  const log = await openReady({ dir });
  await log.append(Buffer.alloc(1));
  // Another container does not see this process.
  const processes = {
    self: () => ({ pid: 1, startedTicks: 1, bootId: null }),
    isRunning: () => false,
  };
  const other = await openReady({ dir, processes });
  await assert.rejects(log.append(Buffer.alloc(1)), { code: "LOG_FAILED" });
  assert.equal((await log.failed).code, "LOG_FAILED");
  await log.close();
  await other.append(Buffer.alloc(1));
  await other.close();
});
