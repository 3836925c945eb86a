// The image: built from scratch by buildah, and started as its own configuration says.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { freePort } from "../dashboard/server.ts";
import { needProgram } from "../debian.ts";
import { builtExecutable } from "../executable/build.ts";

const deploy = join(dirname(dirname(dirname(import.meta.dirname))), "deploy");
const dir = mkdtempSync(join(tmpdir(), "sluice-image-"));
// Others than root must be able to enter what is run in it.
chmodSync(dir, 0o755);
after(() => rmSync(dir, { recursive: true, force: true }));

// A store of its own, which needs no layers of the file system.
const STORE = ["--storage-driver", "vfs", "--root", `${dir}/store`, "--runroot", `${dir}/run`];

function buildah(...args: string[]): string {
  return execFileSync("buildah", [...STORE, ...args], { encoding: "utf8" }).trim();
}

interface ImageConfig {
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
}

function build(): ImageConfig {
  needProgram("buildah", "buildah");
  execFileSync(join(deploy, "root.sh"), [builtExecutable(), join(dir, "image")]);
  const file = join(deploy, "Containerfile");
  buildah("build", "--quiet", "--tag", "sluice", "--file", file, join(dir, "image"));
  const { OCIv1 } = JSON.parse(buildah("inspect", "--type", "image", "localhost/sluice"));
  return OCIv1.config;
}

// What this machine allows: containers, or else a change of the root of the file system.
function start(config: ImageConfig, settings: Readonly<Record<string, string>>): ChildProcess {
  needProgram("podman", "podman");
  const run = ["run", "--rm", "--network", "host", "--read-only", "--cap-drop", "ALL"];
  const tried = spawnSync("podman", [...STORE, ...run, "localhost/sluice", "--version"]);
  if (tried.status === 0) {
    const env = Object.entries(settings).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    return spawn("podman", [...STORE, ...run, ...env, "localhost/sluice", "serve", "--json"]);
  }
  assert.match(String(tried.stderr), /not permitted|permission denied/i, String(tried.stderr));
  const container = buildah("from", "localhost/sluice");
  const mounted = buildah("mount", container);
  const env = Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const args = [`--userspec=${config.User}`, mounted, ...config.Entrypoint, ...config.Cmd];
  return spawn("/usr/sbin/chroot", [...args, "--json"], { env: { ...env, ...settings } });
}

test("the image holds the executable and its libraries, and serves", async (t) => {
  const config = build();
  assert.deepEqual([config.Entrypoint, config.Cmd], [["/sluice"], ["serve"]]);
  assert.equal(config.User, "65532:65532");
  const files = globSync("**/*", { cwd: join(dir, "image", "root"), withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map(({ name }) => name);
  assert.ok(
    names.includes("sluice") && names.every((name) => /^sluice$|\.so/.test(name)),
    `${names}`,
  );

  const port = await freePort();
  const child = start(config, { SLUICE_HOST: "127.0.0.1", SLUICE_PORT: String(port) });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout?.on("data", (text) => (said += text));
  child.stderr?.on("data", (text) => (said += text));
  while (!said.includes('"address"')) {
    await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
    assert.equal(child.exitCode, null, said);
  }
  const { address, dir: data, key } = JSON.parse(said.trim().split("\n").at(-1)!);
  t.diagnostic(`started by ${child.spawnfile}`);
  assert.equal(data, "/data");
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  assert.equal((await fetch(`${address}/v1/queues`)).status, 401, "it asks for keys");
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const made = await fetch(`${address}/v1/queues/mail`, { method: "PUT", headers, body: "{}" });
  assert.equal(made.status, 200);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  assert.equal((await ended)[0], 0, "it ends in order");
});
