// `sluice serve`, as anybody starts it. With SLUICE_BENCH_PROFILE=directory it leaves a processor
// and a heap profile there when it ends.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@sluice/server/testing/loopback";
import { ownDir, PeerServer } from "../server.ts";
import type { Mode, Running } from "../system.ts";

const CLI = join(import.meta.dirname, "../../../packages/cli");
const DURABILITY: Readonly<Record<Mode, string>> = { sync: "fsync", relaxed: "os" };

// `more`: further options of the command.
export async function startSluice(
  dir: string,
  mode: Mode,
  more: readonly string[] = [],
): Promise<Running> {
  const port = await freePort();
  const profiles = process.env.SLUICE_BENCH_PROFILE;
  const profiling =
    profiles === undefined ? [] : ["--cpu-prof", "--heap-prof", `--diagnostic-dir=${profiles}`];
  const server = await PeerServer.start({
    program: process.execPath,
    args: [
      ...profiling,
      ...[join(CLI, "src/main.ts"), "serve", "--json", "--log-level", "error"],
      ...["--port", String(port), "--durability", DURABILITY[mode]],
      ...(more.includes("--log") ? [] : ["--dir", ownDir(dir)]),
      ...more,
    ],
    dir,
    ready: /"address"/,
    isOurs: true,
    ...(profiles === undefined ? {} : { stopSignal: "SIGTERM" as const }),
  });
  const { version } = JSON.parse(readFileSync(join(CLI, "package.json"), "utf8"));
  return { server, address: `http://127.0.0.1:${port}`, version: `Sluice ${version}` };
}
