import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { brokerConformance, ENGINE_SUBJECTS, type Register } from "@sluice/protocol/conformance";
import { openThreaded } from "../testing/threaded.ts";

const CASE_MS_MAX = 60_000;
const SUITE_MS_MAX = 600_000;
const SOURCES = dirname(import.meta.dirname);

const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
brokerConformance("through a thread", openThreaded, register, { skipped: ENGINE_SUBJECTS });

test("the tests of the server pass with two threads", { timeout: SUITE_MS_MAX }, async () => {
  const files = globSync("**/*.test.ts", { cwd: SOURCES })
    .filter((file) => !/\.(?:e2e|fuzz|prop|crash)\.test\.ts$|^threads/.test(file))
    .map((file) => join(SOURCES, file));
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const env = { ...own, SLUICE_TEST_THREADS: "2" };
  const run = spawn(process.execPath, ["--test", "--test-concurrency=2", ...files], { env });
  let output = "";
  run.stdout.on("data", (chunk) => (output += chunk));
  run.stderr.resume();
  const [code] = await once(run, "close");
  assert.equal(code, 0, output.slice(-20_000));
});
