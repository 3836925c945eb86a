import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { natsProgram } from "@sluice/log/testing";
import { canSandbox, spawnInSandbox } from "../testing/faults/sandbox.ts";
import { blocksUnder } from "../testing/runbooks/page.ts";
import { newDir } from "../testing/spawn-serve.ts";

const MAIN = join(import.meta.dirname, "..", "testing", "runbooks", "main.ts");

test("the configuration of NATS in cluster.md is one that a nats-server takes", () => {
  const [block] = blocksUnder("cluster.md", "NATS for a cluster");
  assert.match(block!.text, /sync_interval: always/);
  const dir = newDir();
  mkdirSync(join(dir, "store"));
  const path = join(dir, "nats.conf");
  writeFileSync(path, block!.text.replace("/var/lib/nats", join(dir, "store")));
  execFileSync(natsProgram(), ["-t", "-c", path], { stdio: "pipe" });
});

const skip = canSandbox() ? false : "this system does not let a process make namespaces";
test("the runbooks of cluster-runbooks.md are followed word for word", { skip }, async (t) => {
  const child = spawnInSandbox(MAIN, []);
  t.after(() => child.kill("SIGKILL"));
  const done: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    const { runbook, failed } = JSON.parse(line);
    assert.equal(failed, undefined);
    done.push(runbook);
  }
  assert.deepEqual(done, ["fullDisk", "lostMajority", "damagedPartition"]);
});
