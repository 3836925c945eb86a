import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { JobIds } from "./job-ids.ts";

test("a job's outer id maps back to the job, and reveals nothing about its neighbours", () => {
  const ids = new JobIds(randomBytes(16));
  const uids = Array.from({ length: 1000 }, (_, i) => ids.uidOf(`a${i.toString(36)}`));
  uids.forEach((uid, i) => {
    assert.match(uid, /^[0-9a-f]{32}$/);
    assert.equal(ids.idOf(uid), `a${i.toString(36)}`);
  });
  assert.equal(new Set(uids.map((uid) => uid.slice(0, 8))).size, 1000);
});

test("an id that this server did not make maps to no job", () => {
  const ids = new JobIds(randomBytes(16));
  const others = new JobIds(randomBytes(16));
  for (const uid of ["", "a1", "zz", "0".repeat(31), "0".repeat(33), others.uidOf("a1")]) {
    assert.equal(ids.idOf(uid), undefined, uid);
  }
  for (let i = 0; i < 10_000; i++) {
    assert.equal(ids.idOf(randomBytes(16).toString("hex")), undefined);
  }
});
