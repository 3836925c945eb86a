import { spawnSync } from "node:child_process";

const PROGRAM = "nats-server";
const LOCK_WAIT_S = 300;

/** Debian has it; where it may not be installed, the test that needs it says so. */
export function needNatsServer(): void {
  if (isThere()) return;
  if (!install()) {
    spawnSync("apt-get", ["update"], { stdio: "ignore" });
    install();
  }
  if (!isThere()) throw new Error(`${PROGRAM} is not installed: apt-get install ${PROGRAM}`);
}

function isThere(): boolean {
  return spawnSync(PROGRAM, ["--version"], { stdio: "ignore" }).status === 0;
}

function install(): boolean {
  const options = ["-y", "--no-install-recommends", "-o", `DPkg::Lock::Timeout=${LOCK_WAIT_S}`];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return (
    spawnSync("apt-get", ["install", ...options, PROGRAM], { stdio: "ignore", env }).status === 0
  );
}
