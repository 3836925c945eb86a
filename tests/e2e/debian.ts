// Programs of Debian that end-to-end tests run beside Sluice. What is missing is installed where
// that is allowed; where it is not, the test that needs it fails and says what to install.

import { execFileSync, spawnSync } from "node:child_process";

const LOCK_WAIT_S = 300;

// Debian's own: another Python on the path has other modules.
export const PYTHON = "/usr/bin/python3";

export function needProgram(program: string, debianPackage: string): void {
  need(program, debianPackage, () => isDone("which", [program]));
}

export function needPythonModule(module: string, debianPackage: string): void {
  need(module, debianPackage, () => isDone(PYTHON, ["-c", `import ${module}`]));
}

function need(name: string, debianPackage: string, isThere: () => boolean): void {
  if (isThere()) return;
  try {
    // The lists may be absent or old: they are fetched only when the package is not found.
    if (!install(debianPackage)) {
      execFileSync("apt-get", ["update"], { stdio: "ignore" });
      install(debianPackage);
    }
  } catch {
    // No apt on this machine, or no right to use it: the message below says what to do.
  }
  if (!isThere()) {
    throw new Error(`${name} is not installed: apt-get install ${debianPackage}`);
  }
}

function isDone(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0;
}

function install(debianPackage: string): boolean {
  const options = ["-y", "--no-install-recommends", "-o", `DPkg::Lock::Timeout=${LOCK_WAIT_S}`];
  const { status } = spawnSync("apt-get", ["install", ...options, debianPackage], {
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return status === 0;
}
