import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** What tests and benchmarks run on, unless SLUICE_NATS_VERSION names another one. */
export const NATS_VERSION = "2.15.1";

const SCRIPT = join(import.meta.dirname, "..", "..", "..", "..", "scripts", "nats-server.sh");
const found = new Map<string, string>();

/** The path of a nats-server of this version, which is fetched from Debian the first time. */
export function natsProgram(version = process.env.SLUICE_NATS_VERSION ?? NATS_VERSION): string {
  const known = found.get(version);
  if (known !== undefined) return known;
  const { status, stdout, stderr } = spawnSync("sh", [SCRIPT, version], { encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`nats-server ${version} cannot be had: ${stderr?.trim() || "sh is missing"}`);
  }
  const path = stdout.trim();
  found.set(version, path);
  return path;
}
