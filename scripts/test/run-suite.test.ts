// Runs the real runner on made-up test files: the harness must see what is wrong.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runSuite, type SuiteResult } from "./run-suite.ts";

const repository = dirname(dirname(import.meta.dirname));
const IMPORT = 'import { test, describe, after } from "node:test";\n';

function tree(t: TestContext, files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "sluice-suite-"));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  symlinkSync(join(repository, "scripts"), join(root, "scripts"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), IMPORT + text);
  return root;
}

function run(
  root: string,
  files: Record<string, string>,
  { budgetMs = 30_000, isRepeated = false, together = [] as string[] } = {},
): Promise<SuiteResult> {
  const suite = {
    name: "made-up",
    budgetMs,
    isRepeated,
    together,
    source: { kind: "files", ending: ".test.ts" },
  } as const;
  return runSuite({ root, suite, files: Object.keys(files) });
}

test("counts passed, failed and skipped tests, and reports failures in full", async (t) => {
  const files = {
    "a.test.ts": `
      test("good", () => {});
      describe("group", () => { test("bad", () => { throw new Error("boom"); }); });
      test("left out", { skip: "a reason" }, () => {});
      console.log("printed by a");`,
    "b.test.ts": `test("good too", () => {}); console.log("printed by b");`,
  };
  const result = await run(tree(t, files), files);
  assert.deepEqual(result.counts, { passed: 2, failed: 1, skipped: 1 });
  assert.match(result.failures[0]?.title ?? "", /a\.test\.ts:\d+ group › bad/);
  assert.match(result.failures[0]?.detail ?? "", /Error: boom/);
  assert.match(result.output, /printed by a/);
  assert.doesNotMatch(result.output, /printed by b/);
});

test("a file that ends early, crashes, or holds no test is a failure", async (t) => {
  const files = {
    "crash.test.ts": `throw new Error("at load");`,
    "early.test.ts": `test("one", () => {}); test("two", () => process.exit(0));`,
    "empty.test.ts": "",
  };
  const result = await run(tree(t, files), files);
  assert.equal(result.counts.failed, 3);
  assert.match(result.output, /at load/);
});

test("files of a folder share a process, and each is still judged by itself", async (t) => {
  const root = tree(t, {});
  mkdirSync(join(root, "pure"));
  const files: Record<string, string> = {
    "pure/a.test.ts": `test("pid", () => console.log("pid", process.pid)); console.log("by a");`,
    "pure/b.test.ts": `
      describe("group", () => { test("bad", () => { throw new Error("boom"); }); });
      test("left out", { skip: true }, () => {});`,
    "pure/empty.test.ts": "",
    "pure/last.test.ts": `test("good", () => console.log("pid", process.pid));`,
    "other.test.ts": `test("good", () => {});`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), IMPORT + text);
  const result = await run(root, files, { together: ["pure"] });
  assert.deepEqual(result.counts, { passed: 3, failed: 2, skipped: 1 });
  const titles = result.failures.map(({ title }) => title);
  assert.match(titles[0]!, /b\.test\.ts:\d+ group › bad/);
  assert.equal(titles[1], "pure/empty.test.ts");
  const pids = [...result.output.matchAll(/pid (\d+)/g)].map(([, pid]) => pid);
  assert.equal(pids.length, 2);
  assert.equal(pids[0], pids[1]);
  assert.deepEqual([...result.fileTimes.keys()].sort(), Object.keys(files).sort());
});

test("a shared process that ends early fails the files that it had not ended", async (t) => {
  const root = tree(t, {});
  mkdirSync(join(root, "pure"));
  const files: Record<string, string> = {
    "pure/a.test.ts": `test("good", () => {});`,
    "pure/b.test.ts": `test("ends it", () => process.exit(0));`,
    "pure/c.test.ts": `test("never run", () => {});`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), IMPORT + text);
  const { failures, counts } = await run(root, files, { together: ["pure"] });
  const titles = failures.map(({ title }) => title);
  assert.ok(titles.includes("pure/b.test.ts") && titles.includes("pure/c.test.ts"), `${titles}`);
  assert.ok(counts.failed >= 2);
});

test("a failing hook of a group is a failure", async (t) => {
  const files = {
    "a.test.ts": `describe("g", () => { after(() => { throw new Error("late"); }); test("x", () => {}); });`,
  };
  const result = await run(tree(t, files), files);
  assert.equal(result.counts.failed, 1);
});

// Fails the first time that it is run.
const failsOnce = (message: string): string => `
  import { existsSync, writeFileSync } from "node:fs";
  test("shaky", () => {
    if (existsSync("seen")) return;
    writeFileSync("seen", "");
    throw new Error("${message}");
  });
  test("good", () => {});`;

test("a file that fails beside others and passes alone is shown as unsteady", async (t) => {
  const files = { "a.test.ts": failsOnce("too slow"), "b.test.ts": 'test("good", () => {});' };
  const result = await run(tree(t, files), files, { isRepeated: true });
  assert.deepEqual(result.counts, { passed: 3, failed: 0, skipped: 0 });
  assert.match(result.unsteady[0]?.title ?? "", /a\.test\.ts:\d+ shaky/);
  assert.match(result.unsteady[0]?.detail ?? "", /too slow/);
  const plain = await run(tree(t, files), files);
  assert.equal(plain.counts.failed, 1, "only in a suite that repeats");
});

test("what fails alone too, or breaks a promise once, is a failure", async (t) => {
  const always = { "a.test.ts": 'test("bad", () => { throw new Error("too slow"); });' };
  const again = await run(tree(t, always), always, { isRepeated: true });
  assert.deepEqual([again.counts.failed, again.unsteady.length], [1, 0]);
  const broken = { "a.test.ts": failsOnce("3 confirmed jobs were lost") };
  const once = await run(tree(t, broken), broken, { isRepeated: true });
  assert.deepEqual([once.counts.failed, once.unsteady.length], [1, 0]);
});

test("a suite over its budget is killed with everything it started", {
  timeout: 20_000,
}, async (t) => {
  const files = {
    "hang.test.ts": `
      import { spawn } from "node:child_process";
      import { writeFileSync } from "node:fs";
      test("hangs", async () => {
        const child = spawn("sleep", ["600"]);
        writeFileSync("pid", String(child.pid));
        await new Promise(() => setInterval(() => {}, 1000));
      });`,
  };
  const root = tree(t, files);
  const result = await run(root, files, { budgetMs: 1_500 });
  assert.equal(result.counts.failed, 1);
  assert.match(result.failures[0]?.detail ?? "", /made-up was killed.*budget of 1.5 s/);
  assert.match(result.failures[0]?.detail ?? "", /still running: hang\.test\.ts: hangs/);
  assert.ok(existsSync(join(root, "pid")), "the test had begun");
  const pid = Number(readFileSync(join(root, "pid"), "utf8"));
  // The kernel ends the processes of a group one after another.
  while (isRunning(pid)) await setImmediate();
});

// A killed process whose parent is gone may linger as a zombie until it is reaped.
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("a suite without files is absent and not failed", async (t) => {
  const result = await run(tree(t, {}), {});
  assert.equal(result.isAbsent, true);
  assert.deepEqual(result.counts, { passed: 0, failed: 0, skipped: 0 });
});
