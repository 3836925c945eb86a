// A node of a cluster that owns all partitions, with keys and a limit on adds, as in production. It
// prints its address; then, for two lines that it reads, which functions ran between them.

import { createInterface } from "node:readline";
import { dialWebSocket } from "@sluice/client/remote";
import { MemoryHeartbeats } from "@sluice/cluster/heartbeats";
import { ClusterNode, createCluster } from "@sluice/cluster/node";
import { MemoryRegistry } from "@sluice/cluster/registry";
import { MemoryLog } from "@sluice/log";
import { serve } from "@sluice/server";
import { ROOT_KEY } from "./cluster-key.ts";
import { ranWhile } from "./ran.ts";

const registry = new MemoryRegistry();
await createCluster(registry, { name: "sluice", partitions: 2 });
const node = new ClusterNode({
  registry,
  heartbeats: new MemoryHeartbeats(),
  openLog: async () => new MemoryLog(),
  dial: dialWebSocket,
  node: "a",
  version: "path",
});
const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof node.start>>>();
const server = await serve({
  broker: promise,
  cluster: node,
  keys: { rootKey: ROOT_KEY },
  limits: { addsPerSecond: 1_000_000 },
  log: "silent",
});
resolve(await node.start(server.address));
console.log(JSON.stringify(server.address));

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
const next = async (): Promise<void> => void (await lines.next());
console.log(
  JSON.stringify(
    await ranWhile(async () => {
      console.log(JSON.stringify("watching"));
      await next();
    }),
  ),
);
process.exit(0);
