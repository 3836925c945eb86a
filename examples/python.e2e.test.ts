import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { serve } from "@sluice/server";

const KEY = "a key that is long enough for a root key";
const PROGRAM = join(import.meta.dirname, "python", "mail.py");
const run = promisify(execFile);

async function address(t: TestContext): Promise<string> {
  const broker = await openBroker({ log: new MemoryLog() });
  const server = await serve({ broker, keys: { rootKey: KEY }, log: "silent" });
  t.after(async () => {
    await server.close();
    await broker.close();
  });
  return server.address;
}

test("a client in Python's standard library adds, consumes, acks and nacks", async (t) => {
  const { stdout } = await run("python3", [PROGRAM, await address(t), KEY]);
  assert.deepEqual(stdout.trim().split("\n").sort(), [
    'acked a@b.c attempt 0 {"kind": "welcome"}',
    "acked d@e.f attempt 0 {}",
    "acked fails once attempt 1 {}",
    "added 3",
    "finished 3",
    "nacked fails once",
    "refused INVALID",
    "refused QUEUE_NOT_FOUND",
  ]);
});

test("it is told when its key is wrong", async (t) => {
  const wrong = run("python3", [
    PROGRAM,
    await address(t),
    "another key, as long as the right one",
  ]);
  await assert.rejects(wrong, /UNAUTHORIZED/);
});
