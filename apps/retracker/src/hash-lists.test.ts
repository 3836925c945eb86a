import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { complete } from "./settings/settings.ts";
import { HttpUpstream } from "./testing/http-upstream.ts";
import { failureIn, hashOf, TestApp } from "./testing/scene.ts";

const hex = (name: string): string => Buffer.from(hashOf(name), "latin1").toString("hex");

test("files of hashes are read again on a reload, with all that can change", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const [deny, never] = [join(dir, "deny"), join(dir, "never")];
  writeFileSync(deny, `# bad ones\n${hex("a").toUpperCase()}\n\n`);
  writeFileSync(never, `${hex("secret")}\r\n`);
  const settings = { deny_file: deny, never_forward_file: never };
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({ settings, forwarders: [up.uri] });
  assert.match(failureIn(await scene.announce({ hash: "a" })), /denied/);
  assert.equal(failureIn(await scene.announce({ hash: "b" })), "");
  await scene.announce({ hash: "secret" });
  await scene.settled();
  assert.equal(up.asked.length, 1);
  writeFileSync(deny, `${hex("b")}\nnonsense\n`);
  const fresh = complete({ ...scene.retracker.settings, announce_interval: 900, listen: ":1" });
  assert.deepEqual(await scene.retracker.reload(fresh), [
    "changed, but in use after a restart only: listen",
    `${deny}:2: not an info hash of 40 hex digits; the line is ignored`,
  ]);
  assert.equal((await scene.announce({ hash: "a" })).get("interval"), 900);
  assert.match(failureIn(await scene.announce({ hash: "b" })), /denied/);
  rmSync(deny);
  const [problem] = await scene.retracker.reload();
  assert.match(problem!, /cannot be read: .*; the list that was read before stays in use/);
  assert.match(failureIn(await scene.announce({ hash: "b" })), /denied/);
  rmSync(dir, { recursive: true });
});

test("an allow list that is empty allows nothing", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const file = join(dir, "allow");
  writeFileSync(file, "");
  await using scene = await TestApp.open({ settings: { allow_file: file } });
  assert.match(failureIn(await scene.announce()), /not among those allowed/);
  rmSync(dir, { recursive: true });
});
