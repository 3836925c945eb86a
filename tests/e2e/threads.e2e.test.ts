// The tests of the server and of the command once more, with servers of several threads: what they
// promise does not depend on how many there are.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..", "..");
const RUN_MS_MAX = 600_000;
const OUTPUT_CHARS = 20_000;

async function passes(files: readonly string[], threads: number): Promise<void> {
  assert.ok(files.length > 0);
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const env = { ...own, SLUICE_TEST_THREADS: String(threads) };
  const args = ["--test", "--test-concurrency=2", ...files];
  const run = spawn(process.execPath, args, { cwd: ROOT, env });
  let output = "";
  run.stdout.on("data", (text) => (output += text));
  run.stderr.resume();
  const [code] = await once(run, "close");
  assert.equal(code, 0, output.slice(-OUTPUT_CHARS));
}

test("the tests of the server pass with two threads", { timeout: RUN_MS_MAX }, () => {
  const files = globSync("packages/server/src/**/*.test.ts", { cwd: ROOT });
  const others = /\.(?:e2e|fuzz|prop|crash)\.test\.ts$|src.threads.|src.stream./;
  return passes(
    files.filter((file) => !others.test(file)),
    2,
  );
});

test("the life of jobs, keys and TLS are the same with three threads", {
  timeout: RUN_MS_MAX,
}, () => {
  const names = [
    "audit",
    "death",
    "fairness",
    "keys",
    "life",
    "lua",
    "throttle",
    "tls",
    "webhooks",
  ];
  return passes(
    names.map((name) => `packages/cli/src/e2e/${name}.test.ts`),
    3,
  );
});
