// A process in namespaces of its own: it may make networks and mount file systems there, and all it
// has made and started ends with it. Root is not needed where users may make namespaces.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";

const ROOT = 0;

// Whether this system lets us make one.
export function canSandbox(): boolean {
  return spawnSync("unshare", [...namespaces(), "true"]).status === 0;
}

export function spawnInSandbox(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  return spawn("unshare", [...namespaces(), process.execPath, script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
}

function namespaces(): string[] {
  const asRoot = process.getuid?.() === ROOT ? [] : ["--user", "--map-root-user"];
  return [...asRoot, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
}
