import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ownDirectory } from "./compile-cache.ts";

const LAUNCHER = join(import.meta.dirname, "../../sluice/bin/sluice.mjs");
const IS_WINDOWS = process.platform === "win32";
const skip = IS_WINDOWS ? "rights are not in the mode there" : false;

function freshDir(t: TestContext): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sluice-compiled-")));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function version(env: NodeJS.ProcessEnv): string {
  const { PATH } = process.env;
  const given = { env: { PATH, ...env }, encoding: "utf8" } as const;
  return execFileSync(process.execPath, [LAUNCHER, "--version"], given).trim();
}

test("the directory is in the user's own cache, and the user's alone", { skip }, (t) => {
  const home = freshDir(t);
  const dir = ownDirectory({ HOME: home });
  assert.equal(dir, join(home, ".cache/sluice"));
  assert.equal(statSync(dir!).mode & 0o777, 0o700);
  assert.equal(ownDirectory({ HOME: home }), dir, "and found again");
  const elsewhere = join(home, "elsewhere");
  assert.equal(ownDirectory({ HOME: home, XDG_CACHE_HOME: elsewhere }), join(elsewhere, "sluice"));
});

test("a directory in which others may write is not used", { skip }, (t) => {
  const base = freshDir(t);
  mkdirSync(join(base, "sluice"));
  chmodSync(join(base, "sluice"), 0o770);
  assert.equal(ownDirectory({ XDG_CACHE_HOME: base }), undefined);
  chmodSync(join(base, "sluice"), 0o755);
  assert.notEqual(ownDirectory({ XDG_CACHE_HOME: base }), undefined);
  chmodSync(base, 0o1777);
  assert.equal(ownDirectory({ XDG_CACHE_HOME: base }), undefined);
});

test("a link in its place is not followed", { skip }, (t) => {
  const base = freshDir(t);
  mkdirSync(join(base, "other"));
  chmodSync(join(base, "other"), 0o777);
  symlinkSync(join(base, "other"), join(base, "sluice"));
  assert.equal(ownDirectory({ XDG_CACHE_HOME: base }), undefined);
});

test("a directory of another user is not used", (t) => {
  if (process.geteuid?.() !== 0) return t.skip("only root can change the user of a process");
  const base = freshDir(t);
  t.mock.method(process as Required<NodeJS.Process>, "geteuid", () => 12_345);
  assert.equal(ownDirectory({ XDG_CACHE_HOME: base }), undefined);
});

test("a home of another user is not used, and nothing is made in it", (t) => {
  if (process.geteuid?.() !== 0) return t.skip("only root can give a directory away");
  const home = freshDir(t);
  chownSync(home, 65_534, 65_534);
  assert.equal(ownDirectory({ HOME: home }), undefined);
  assert.deepEqual(readdirSync(home), []);
});

test("a place that is not absolute is not used", () => {
  assert.equal(ownDirectory({ XDG_CACHE_HOME: "cache" }), undefined);
});

test("there is none without a home, or where none can be made", (t) => {
  assert.equal(ownDirectory({}), undefined);
  const file = join(freshDir(t), "file");
  writeFileSync(file, "");
  assert.equal(ownDirectory({ HOME: file, XDG_CACHE_HOME: file, LOCALAPPDATA: file }), undefined);
});

test("the command keeps what Node has compiled there", (t) => {
  const base = freshDir(t);
  const env = { HOME: base, XDG_CACHE_HOME: base, LOCALAPPDATA: base };
  const first = version(env);
  const kept = readdirSync(join(base, "sluice"), { recursive: true });
  assert.ok(kept.length > 5, `only ${kept.length} files`);
  assert.equal(version(env), first);
});

test("the command works without a place, and keeps nothing when Node may not", (t) => {
  const base = freshDir(t);
  const file = join(base, "file");
  writeFileSync(file, "");
  const env = { HOME: file, XDG_CACHE_HOME: file, LOCALAPPDATA: file };
  assert.equal(version(env), version({ ...env, NODE_DISABLE_COMPILE_CACHE: "1" }));
  version({ XDG_CACHE_HOME: base, LOCALAPPDATA: base, NODE_DISABLE_COMPILE_CACHE: "1" });
  assert.deepEqual(readdirSync(base), ["file"]);
});
