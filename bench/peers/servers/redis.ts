import { join } from "node:path";
import { freePort } from "@sluice/server/testing/loopback";
import { unpack } from "../debian.ts";
import { ownDir, PeerServer } from "../server.ts";
import type { Mode, Running } from "../system.ts";

const PACKAGES = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1"];
const FSYNC: Readonly<Record<Mode, string>> = { sync: "always", relaxed: "everysec" };

export async function startRedis(dir: string, mode: Mode): Promise<Running> {
  const { root, version, env } = await unpack(PACKAGES);
  const port = await freePort();
  const settings = {
    port,
    bind: "127.0.0.1",
    dir: ownDir(dir),
    appendonly: "yes",
    appendfsync: FSYNC[mode],
    // Snapshots would be a second durability beside the one that is measured.
    save: "",
    "maxmemory-policy": "noeviction",
    // Nor is a rewrite of the file to fall into a neighbour's turn.
    "auto-aof-rewrite-percentage": 0,
  };
  const server = await PeerServer.start({
    program: join(root, "usr/bin/redis-server"),
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    dir,
    env,
    ready: /Ready to accept connections/,
  });
  return { server, address: `redis://127.0.0.1:${port}`, version: `Redis ${version}` };
}
