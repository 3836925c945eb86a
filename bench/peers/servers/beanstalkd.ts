import { join } from "node:path";
import { freePort } from "@sluice/server/testing/loopback";
import { unpack } from "../debian.ts";
import { ownDir, PeerServer } from "../server.ts";
import type { Mode, Running } from "../system.ts";

// Every write is synced, or one sync every 50 ms, its default.
const FSYNC: Readonly<Record<Mode, readonly string[]>> = { sync: ["-f0"], relaxed: ["-f50"] };

export async function startBeanstalkd(dir: string, mode: Mode): Promise<Running> {
  const { root, version, env } = await unpack(["beanstalkd"]);
  const port = await freePort();
  const server = await PeerServer.start({
    program: join(root, "usr/bin/beanstalkd"),
    args: ["-l", "127.0.0.1", "-p", String(port), "-b", ownDir(dir), ...FSYNC[mode]],
    dir,
    env,
    ready: port,
  });
  return { server, address: `127.0.0.1:${port}`, version: `beanstalkd ${version}` };
}
