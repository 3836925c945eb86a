import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NATS_VERSION, natsProgram } from "@sluice/log/testing";
import { freePort } from "@sluice/server/testing/loopback";
import { ownDir, PeerServer } from "../server.ts";
import type { Running } from "../system.ts";

export async function startNats(dir: string): Promise<Running> {
  const port = await freePort();
  const config = join(ownDir(dir), "nats.conf");
  const store = ownDir(join(dir, "store"));
  const jetstream = `store_dir: "${store}", max_mem: 1GB, max_file: 100GB`;
  writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream: { ${jetstream} }\n`);
  const server = await PeerServer.start({
    program: natsProgram(NATS_VERSION),
    args: ["-c", config],
    dir,
    ready: /Server is ready/,
  });
  return { server, address: `127.0.0.1:${port}`, version: `nats-server ${NATS_VERSION}` };
}
