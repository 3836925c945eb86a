import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Lock } from "./lock.ts";
import { realProcesses } from "./processes.ts";
import { realDisk } from "./real-disk.ts";

function testIn(name: string, act: (dir: string) => Promise<void>): void {
  test(name, async () => {
    const dir = await mkdtemp(join(tmpdir(), "sluice-lock-"));
    try {
      await act(dir);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
}

const take = (dir: string): Promise<Lock> => Lock.take(realDisk, dir, realProcesses);

testIn("the second opener in the same process is refused and told who has the log", async (dir) => {
  const lock = await take(dir);
  await assert.rejects(take(dir), (error) => {
    const { code, details, message } = error as Error & { code: string; details: { pid: number } };
    assert.deepEqual([code, details.pid], ["LOG_LOCKED", process.pid]);
    assert.match(message, /this very process/);
    return true;
  });
  await lock.release();
  await (await take(dir)).release();
});

testIn("of many that open at once one gets the log", async (dir) => {
  const takes = await Promise.allSettled(Array.from({ length: 20 }, () => take(dir)));
  const taken = takes.filter((each) => each.status === "fulfilled");
  assert.equal(taken.length, 1);
  const names = await readdir(dir);
  assert.equal(names.filter((name) => !name.endsWith(".new")).length, 1);
  await taken[0]!.value.release();
});

testIn(
  "a lock is taken over when its process is gone or has another start or boot",
  async (dir) => {
    const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
    const { pid = 0 } = child;
    await once(child, "close");
    const self = realProcesses.self();
    for (const stale of [
      { ...self, pid },
      { ...self, startedTicks: (self.startedTicks ?? 0) + 1 },
      { ...self, bootId: "another boot" },
    ]) {
      await writeFile(join(dir, "lock.7"), JSON.stringify(stale));
      const lock = await take(dir);
      assert.deepEqual(await readdir(dir), ["lock.8"]);
      assert.deepEqual(JSON.parse(await readFile(join(dir, "lock.8"), "utf8")), self);
      await lock.release();
      await rm(join(dir, "lock.8"));
    }
  },
);

testIn("a lock without the start of its process is honoured while the number runs", async (dir) => {
  const owner = { pid: process.ppid, startedTicks: null, bootId: null };
  await writeFile(join(dir, "lock.1"), JSON.stringify(owner));
  await assert.rejects(take(dir), { code: "LOG_LOCKED" });
});

testIn("a lock whose text a power loss took is free", async (dir) => {
  for (const text of ["", "\0\0\0\0", "{", "null", '{"pid":"1"}']) {
    await writeFile(join(dir, "lock.99"), text);
    await (await take(dir)).release();
    for (const name of await readdir(dir)) await rm(join(dir, name));
  }
});

test("a process is known by its number, its start and the boot", () => {
  const self = realProcesses.self();
  assert.ok(realProcesses.isRunning(self));
  assert.ok(!realProcesses.isRunning({ ...self, pid: 2 ** 30 }));
  assert.ok(realProcesses.isRunning({ pid: 1, startedTicks: null, bootId: null }));
});
