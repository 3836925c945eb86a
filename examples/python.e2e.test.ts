import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { createJobServer, readConfig } from "@sluice/jobserver";
import { start } from "@sluice/server/testing/start";
import { newWebhookSecret, signWebhook } from "sluice/webhooks";

const KEY = "a-key-that-is-long-enough-for-a-root-key";
const PROGRAM = join(import.meta.dirname, "python", "mail.py");
const JOB_CLIENT = join(import.meta.dirname, "python", "job_client.py");
const run = promisify(execFile);

async function address(t: TestContext): Promise<string> {
  return (await start(t, { keys: { rootKey: KEY } })).server.address;
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

test("a client of the job server in Python's standard library", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-python-"));
  const server = await createJobServer({
    config: readConfig({
      DATA_DIR: dir,
      LISTEN_ADDRESS: "127.0.0.1:0",
      LOG_LEVEL: "silent",
      API_KEY: KEY,
    }),
  });
  t.after(async () => {
    await server.close();
    rmSync(dir, { recursive: true });
  });
  const made = await fetch(`${server.address}/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ worker_id: "python" }),
  });
  const { key } = (await made.json()) as { key: string };
  const { stdout } = await run("python3", [JOB_CLIENT, server.address, key]);
  assert.deepEqual(stdout.trim().split("\n"), [
    'result {"hello": "world"}',
    "same job True",
    "cancelled True",
    "refused INVALID",
    "ended cancelled",
    "listed ['cancelled', 'succeeded']",
  ]);
});

test("the client in Python tells a signed callback from a forged one", async () => {
  const secret = newWebhookSecret();
  const message = { id: "m1", timestamp: Math.floor(Date.now() / 1000), body: '{"a":1}' };
  const headers = JSON.stringify(signWebhook(message, secret));
  const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
from job_client import is_signed
headers, body, secret = json.loads(sys.argv[2]), sys.argv[3].encode(), sys.argv[4]
print(is_signed(headers, body, secret), is_signed(headers, body + b" ", secret))`;
  const folder = join(import.meta.dirname, "python");
  const { stdout } = await run("python3", [
    "-B",
    "-c",
    program,
    folder,
    headers,
    message.body,
    secret,
  ]);
  assert.equal(stdout.trim(), "True False");
});

test("reports UNAUTHORIZED if the key is wrong", async (t) => {
  const wrong = run("python3", [
    PROGRAM,
    await address(t),
    "another key, as long as the right one",
  ]);
  await assert.rejects(wrong, /UNAUTHORIZED/);
});
