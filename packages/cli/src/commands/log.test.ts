import assert from "node:assert/strict";
import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FileLog } from "@sluice/log";
import { command, type Said } from "../testing/sluice.ts";

const root = await mkdtemp(join(tmpdir(), "sluice-cli-"));
after(() => rm(root, { recursive: true }));

/** A closed log of ten batches. */
async function log(name: string): Promise<string> {
  const dir = join(root, name);
  const made = await FileLog.open({ dir });
  for await (const _ of made.replay());
  for (let i = 0; i < 10; i++) await made.append(Buffer.alloc(100, i));
  await made.close();
  return dir;
}

const sluice = (...args: string[]): Promise<Said> => command(args);

async function damage(dir: string): Promise<void> {
  const [segment] = (await readdir(dir)).filter((name) => name.endsWith(".log"));
  const file = await open(join(dir, segment!), "r+");
  await file.write(Buffer.from([0xff]), 0, 1, 300);
  await file.close();
}

test("a whole log has no damage", async () => {
  const { code, text } = await sluice("log", "check", await log("whole"));
  assert.equal(code, 0);
  assert.match(text, /10 batches, 1,000 bytes of facts\nno damage$/);
});

test("reports a damaged log with file and offset, and only a repair changes it", async () => {
  const dir = await log("damaged");
  await damage(dir);
  const before = await readdir(dir);
  const checked = await sluice("log", "check", dir, "--json");
  assert.equal(checked.code, 1);
  const [found] = JSON.parse(checked.text).damages;
  assert.match(found.file, /\.log$/);
  assert.ok(found.offset > 0);
  assert.deepEqual(
    (await readdir(dir)).filter((name) => name.endsWith(".log")),
    before.filter((name) => name.endsWith(".log")),
  );
  const repaired = await sluice("log", "repair", dir);
  assert.equal(repaired.code, 0);
  assert.match(repaired.text, /repaired: 9 batches are kept, \d+ bytes are lost/);
  assert.equal((await sluice("log", "check", dir)).code, 0);
});

test("a repair of a whole log does nothing", async () => {
  const { code, text } = await sluice("log", "repair", await log("fine"));
  assert.equal(code, 0);
  assert.match(text, /nothing was done$/);
});

test("a copy holds the same batches, and is made once", async () => {
  const from = await log("from");
  const to = join(root, "to");
  const { code, text } = await sluice("log", "copy", from, to);
  assert.equal(code, 0);
  assert.match(text, /^copied 10 batches, 1000 bytes of facts, from /);
  const copy = await FileLog.open({ dir: to });
  const firsts: number[] = [];
  for await (const { facts } of copy.replay()) firsts.push(facts[0]!);
  await copy.close();
  assert.deepEqual(firsts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await assert.rejects(sluice("log", "copy", from, to), { code: "CONFLICT" });
  await assert.rejects(sluice("log", "copy", join(root, "none"), join(root, "x")), {
    code: "NOT_FOUND",
  });
  assert.equal((await sluice("log", "copy", from, "nats://127.0.0.1:4222")).code, 2);
});

test("a call that makes no sense is answered with the usage and its own exit code", async () => {
  for (const args of [
    ["log"],
    ["log", "burn", "x"],
    ["log", "check"],
    ["log", "check", "a", "b"],
  ]) {
    const { code, remarks } = await sluice(...args);
    assert.equal(code, 2);
    assert.match(remarks, /sluice log check DIR/);
  }
  assert.equal((await sluice()).code, 0);
  assert.equal((await sluice("--help")).code, 0);
});
