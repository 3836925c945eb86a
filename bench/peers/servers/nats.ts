import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpack } from "../debian.ts";
import { freePort, ownDir, PeerServer } from "../server.ts";
import type { Running } from "../system.ts";

export async function startNats(dir: string): Promise<Running> {
  const { root, version, env } = await unpack(["nats-server"]);
  const port = await freePort();
  const config = join(ownDir(dir), "nats.conf");
  const store = ownDir(join(dir, "store"));
  const jetstream = `store_dir: "${store}", max_mem: 1GB, max_file: 100GB`;
  writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream: { ${jetstream} }\n`);
  const server = await PeerServer.start({
    program: join(root, "usr/sbin/nats-server"),
    args: ["-c", config],
    dir,
    env,
    ready: /Server is ready/,
  });
  return { server, address: `127.0.0.1:${port}`, version: `nats-server ${version}` };
}
