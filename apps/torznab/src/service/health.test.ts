import assert from "node:assert/strict";
import { rename, rm } from "node:fs/promises";
import { test } from "node:test";
import { openFolder } from "../testing/folder.ts";
import { start } from "../testing/start.ts";

test("it is ready while its log can be written, and not after that", async (t) => {
  const folder = await openFolder(t);
  const app = await start(t, { folder });
  assert.equal((await app.call("GET /readyz")).status, 200);
  const moved = `${folder.dir}-moved`;
  t.after(() => rm(moved, { recursive: true, force: true }));
  await rename(folder.dir, moved);
  const { status, body } = await app.call("GET /readyz");
  assert.equal(status, 503);
  assert.match(JSON.stringify(body), /the log takes nothing/);
  assert.match((await app.failed).message, /moved, replaced or deleted/);
  assert.equal((await app.call("GET /healthz")).status, 200);
});
