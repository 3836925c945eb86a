// What a cluster costs that has nothing to do, by its partitions and by its nodes: what every node
// and every stream adds to that is what bounds their number.

import { jetstreamManager } from "@nats-io/jetstream";
import { connectNats } from "@sluice/log/nats";
import type { Group, Report, Scale } from "../figure.ts";
import { rounded } from "../spread.ts";
import { cpuMicrosOf } from "./cpu.ts";
import { Nodes } from "./nodes.ts";

const SHAPES = [
  { count: 1, partitions: 12 },
  { count: 3, partitions: 12 },
  { count: 3, partitions: 120 },
];
const SECONDS = 20;
const SECONDS_QUICK = 4;
const REST_MS = 3000;

async function registryWrites(nodes: Nodes): Promise<number> {
  const connection = await connectNats(nodes.nats.urls);
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info("KV_sluice");
  await connection.close();
  return state.last_seq;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function measureShape(
  { count, partitions }: (typeof SHAPES)[number],
  scale: Scale,
  report: Report,
): Promise<void> {
  await using nodes = await Nodes.start(count, partitions);
  await pause(REST_MS);
  const seconds = scale.isQuick ? SECONDS_QUICK : SECONDS;
  const look = async () => ({
    writes: await registryWrites(nodes),
    nodes: cpuMicrosOf(nodes.pids),
    nats: cpuMicrosOf(nodes.nats.pids),
    at: performance.now(),
  });
  const before = await look();
  await pause(seconds * 1000);
  const after = await look();
  const perSecond = (of: "writes" | "nodes" | "nats"): number =>
    rounded(((after[of] - before[of]) * 1000) / (after.at - before.at));
  const conditions = { ...nodes.conditions, nodes: count, seconds };
  const name = `${count} idle ${count === 1 ? "node" : "nodes"}, ${partitions} partitions`;
  const cpu = { unit: "µs/s", conditions };
  report({ metric: `${name}: processor time, nodes`, value: perSecond("nodes"), ...cpu });
  report({ metric: `${name}: processor time, nats-servers`, value: perSecond("nats"), ...cpu });
  const writes = perSecond("writes");
  report({ metric: `${name}: registry writes`, value: writes, unit: "writes/s", conditions });
}

async function measure(scale: Scale, report: Report): Promise<void> {
  for (const shape of SHAPES) await measureShape(shape, scale, report);
}

export const idleGroups: readonly Group[] = [{ name: "idle", run: measure }];
