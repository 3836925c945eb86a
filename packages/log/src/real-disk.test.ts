import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeAll } from "./disk.ts";
import { realDisk } from "./real-disk.ts";

/** Small and large. */
const SIZES = [1, 16 * 1024, 16 * 1024 + 1, 1024 * 1024];

function freshPath(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-disk-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return join(dir, "file");
}

test("writes of every size go to their offsets, in any order", async (t) => {
  const path = freshPath(t);
  const file = await realDisk.open(path, "create");
  const wanted = Buffer.concat(SIZES.map((size, index) => Buffer.alloc(size, index + 1)));
  const places = SIZES.map((size, index) => ({
    at: SIZES.slice(0, index).reduce((sum, one) => sum + one, 0),
    bytes: Buffer.alloc(size, index + 1),
  }));
  for (const { at, bytes } of places.toReversed()) await writeAll(file, bytes, at);
  await file.sync();
  assert.equal(await file.sizeBytes(), wanted.length);
  await file.close();
  assert.ok(readFileSync(path).equals(wanted));
});

test("rejects a write of any size that the system refuses", async (t) => {
  const path = freshPath(t);
  await (await realDisk.open(path, "create")).close();
  const file = await realDisk.open(path, "read");
  t.after(() => file.close());
  for (const size of SIZES) {
    const write = file.write(Buffer.alloc(size), 0);
    await assert.rejects(write, { code: "EBADF" });
  }
});
