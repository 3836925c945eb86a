import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newDir, spawnServe } from "../testing/spawn-serve.ts";

/** An eighth of the 64 MiB that a log may hold beyond twice what lives in it. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

test("a server writes files of at most an eighth of what its log may hold too much", async (t) => {
  const dir = newDir();
  const server = await spawnServe(t, ["--durability", "os"], dir);
  const sluice = await server.connect();
  const mail = await sluice.queue("mail");
  const payload = "x".repeat(50_000);
  for (let round = 0; round < 6; round++) {
    await mail.addBulk(Array.from({ length: 40 }, () => ({ payload })));
  }
  const segments = readdirSync(dir).filter((name) => name.endsWith(".log"));
  const sizes = segments.map((name) => statSync(join(dir, name)).size);
  assert.ok(sizes.reduce((sum, size) => sum + size) > FILE_BYTES_MAX);
  assert.ok(Math.max(...sizes) <= FILE_BYTES_MAX, `files of ${sizes} bytes`);
});
