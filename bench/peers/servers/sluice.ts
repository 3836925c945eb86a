// `sluice serve`, as anybody starts it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, ownDir, Server } from "../server.ts";
import type { Mode, Running } from "../system.ts";

const CLI = join(import.meta.dirname, "../../../packages/cli");
const DURABILITY: Readonly<Record<Mode, string>> = { sync: "fsync", relaxed: "os" };

export async function startSluice(dir: string, mode: Mode): Promise<Running> {
  const port = await freePort();
  const server = await Server.start({
    program: process.execPath,
    args: [
      ...[join(CLI, "src/main.ts"), "serve", "--json", "--log-level", "error"],
      ...["--port", String(port), "--dir", ownDir(dir), "--durability", DURABILITY[mode]],
    ],
    dir,
    ready: /"address"/,
    isOurs: true,
  });
  const { version } = JSON.parse(readFileSync(join(CLI, "package.json"), "utf8"));
  return { server, address: `http://127.0.0.1:${port}`, version: `Sluice ${version}` };
}
