// What can happen to a cluster: each fault is injected, lasts and is healed. `goalMs` is how long
// any partition may be silent; where nothing can be served until it is over, it counts from then.

import { wait } from "../cluster-load.ts";
import type { NodeProcess } from "../node-process.ts";
import type { FaultCluster } from "./fault-cluster.ts";

export interface Fault {
  readonly name: string;
  // How long it lasts.
  readonly holdMs: number;
  // Nothing can be served before it is healed.
  readonly isTotal?: boolean;
  // It needs disks that can be filled.
  readonly needsDisk?: boolean;
  readonly goalMs?: number;
  // The goal is added to the time that a plain JetStream publisher was silent in the same run.
  readonly isBeyondPlain?: boolean;
  // Brought about; what it answers heals it. Time counts from the call, or from the last `begin`:
  // what prepares a fault is none of it.
  inject(
    cluster: FaultCluster,
    pick: Pick,
    begin: () => Promise<void>,
  ): Promise<() => Promise<void>>;
}

// One of several, by the seed.
export type Pick = <T>(choices: readonly T[]) => T;

const SERVERS = [0, 1, 2] as const;
const NODE_GOAL_MS = 5_000;

const nodeFault =
  (
    act: (cluster: FaultCluster, node: NodeProcess) => unknown,
    heal: (cluster: FaultCluster, node: NodeProcess) => unknown,
  ): Fault["inject"] =>
  async (cluster, pick) => {
    const node = pick(cluster.nodes);
    await act(cluster, node);
    return async () => void (await heal(cluster, node));
  };

const natsFault =
  (
    act: (cluster: FaultCluster, server: number, begin: () => Promise<void>) => unknown,
    heal: (cluster: FaultCluster, server: number) => unknown,
    choose?: (cluster: FaultCluster) => Promise<number>,
  ): Fault["inject"] =>
  async (cluster, pick, begin) => {
    const server = choose === undefined ? pick(SERVERS) : await choose(cluster);
    await act(cluster, server, begin);
    return async () => {
      await heal(cluster, server);
      await cluster.nats.ready();
    };
  };

const heal = (cluster: FaultCluster): void => cluster.network.heal();
const others = (cluster: FaultCluster, server: number): FaultCluster["natsHosts"] =>
  cluster.natsHosts.filter((_, index) => index !== server);
const cutFromServers = (cluster: FaultCluster, server: number): void =>
  cluster.network.cut([cluster.natsHosts[server]!], others(cluster, server));

export const FAULTS: readonly Fault[] = [
  {
    name: "node killed",
    holdMs: 6_000,
    goalMs: NODE_GOAL_MS,
    inject: nodeFault(
      (_, node) => node.kill(),
      (_, node) => node.start(),
    ),
  },
  {
    name: "node frozen",
    holdMs: 7_000,
    goalMs: NODE_GOAL_MS,
    inject: nodeFault(
      (_, node) => node.freeze(),
      (_, node) => node.thaw(),
    ),
  },
  {
    name: "node cut from NATS",
    holdMs: 8_000,
    goalMs: NODE_GOAL_MS,
    inject: nodeFault(
      (cluster, node) => cluster.network.cut([cluster.hostOf(node)], cluster.natsHosts),
      heal,
    ),
  },
  {
    name: "node cut from NATS, incoming only",
    holdMs: 8_000,
    goalMs: NODE_GOAL_MS,
    inject: nodeFault(
      (cluster, node) => cluster.network.cutOneWay(cluster.natsHosts, [cluster.hostOf(node)]),
      heal,
    ),
  },
  {
    name: "node cut from everything",
    holdMs: 8_000,
    goalMs: NODE_GOAL_MS,
    inject: nodeFault((cluster, node) => {
      const own = cluster.hostOf(node);
      const peers = cluster.nodeHosts.filter((host) => host !== own);
      cluster.network.cut([own], [...cluster.natsHosts, ...peers, cluster.network.outside]);
    }, heal),
  },
  {
    name: "owner unreachable for clients",
    holdMs: 9_000,
    goalMs: 2_000,
    inject: nodeFault(
      (cluster, node) => cluster.network.cut([cluster.hostOf(node)], [cluster.network.outside]),
      heal,
    ),
  },
  {
    name: "nodes restarted one by one",
    holdMs: 0,
    goalMs: 500,
    inject: async (cluster) => {
      for (const node of cluster.nodes) {
        await node.stop();
        await node.start();
        await cluster.settled();
      }
      return async () => {};
    },
  },
  {
    name: "NATS leader killed",
    holdMs: 12_000,
    goalMs: 2_000,
    isBeyondPlain: true,
    inject: natsFault(
      (cluster, server) => cluster.nats.kill(server),
      (cluster, server) => cluster.nats.restart(server),
      (cluster) => cluster.leadingServer(),
    ),
  },
  {
    name: "NATS server frozen",
    holdMs: 10_000,
    inject: natsFault(
      (cluster, server) => cluster.nats.pause(server),
      (cluster, server) => cluster.nats.resume(server),
    ),
  },
  {
    name: "NATS server cut from its peers",
    holdMs: 12_000,
    goalMs: 8_000,
    inject: natsFault(cutFromServers, heal),
  },
  {
    name: "NATS server cut from its peers, all nodes on it",
    holdMs: 40_000,
    goalMs: 8_000,
    inject: natsFault(async (cluster, server, begin) => {
      await herd(cluster, server);
      await begin();
      cutFromServers(cluster, server);
    }, heal),
  },
  {
    name: "NATS server cut from everything",
    holdMs: 12_000,
    inject: natsFault((cluster, server) => {
      const all = [...others(cluster, server), ...cluster.nodeHosts];
      cluster.network.cut([cluster.natsHosts[server]!], all);
    }, heal),
  },
  {
    name: "NATS server and node cut off together",
    holdMs: 12_000,
    inject: natsFault((cluster, server) => {
      const gone = [cluster.natsHosts[server]!, cluster.nodeHosts[server]!];
      const rest = [...cluster.natsHosts, ...cluster.nodeHosts].filter(
        (host) => !gone.includes(host),
      );
      cluster.network.cut(gone, rest);
    }, heal),
  },
  {
    name: "link between two NATS servers cut",
    holdMs: 10_000,
    inject: natsFault((cluster, server) => {
      cluster.network.cut([cluster.natsHosts[server]!], [others(cluster, server)[0]!]);
    }, heal),
  },
  {
    name: "two NATS servers killed",
    holdMs: 8_000,
    isTotal: true,
    inject: natsFault(
      (cluster, server) => onOthers(server, (one) => cluster.nats.kill(one)),
      (cluster, server) => onOthers(server, (one) => cluster.nats.restart(one)),
    ),
  },
  {
    name: "all NATS servers killed",
    holdMs: 3_000,
    isTotal: true,
    inject: natsFault(
      (cluster) => onAll((one) => cluster.nats.kill(one)),
      (cluster) => onAll((one) => cluster.nats.restart(one)),
    ),
  },
  {
    name: "everything killed",
    holdMs: 1_000,
    isTotal: true,
    inject: natsFault(
      async (cluster) => {
        await Promise.all(cluster.nodes.map((node) => node.kill()));
        await onAll((one) => cluster.nats.kill(one));
      },
      async (cluster) => {
        await onAll((one) => cluster.nats.restart(one));
        await Promise.all(cluster.nodes.map((node) => node.start()));
      },
    ),
  },
  {
    name: "NATS server loses its disk",
    holdMs: 2_000,
    inject: natsFault(
      async (cluster, server) => {
        await cluster.nats.kill(server);
        cluster.loseDisk(server);
      },
      (cluster, server) => cluster.nats.restart(server),
    ),
  },
  {
    name: "disk full on one NATS server",
    holdMs: 12_000,
    needsDisk: true,
    inject: natsFault(
      (cluster, server) => cluster.fillDisk(server),
      async (cluster, server) => {
        cluster.freeDisk(server);
        await cluster.nats.kill(server, "SIGTERM");
        await cluster.nats.restart(server);
      },
    ),
  },
  {
    name: "disk full on all NATS servers",
    holdMs: 20_000,
    isTotal: true,
    needsDisk: true,
    inject: natsFault(
      (cluster) => onAll((one) => cluster.fillDisk(one)),
      async (cluster) => {
        // JetStream stays disabled until its servers are started again.
        await onAll((one) => cluster.freeDisk(one));
        await onAll((one) => cluster.nats.kill(one, "SIGTERM"));
        await onAll((one) => cluster.nats.restart(one));
      },
    ),
  },
];

async function onOthers(server: number, act: (server: number) => unknown): Promise<void> {
  await Promise.all(SERVERS.filter((one) => one !== server).map(act));
}

async function onAll(act: (server: number) => unknown): Promise<void> {
  await Promise.all(SERVERS.map(act));
}

// All nodes are connected to one server, as earlier faults may leave them.
async function herd(cluster: FaultCluster, server: number): Promise<void> {
  const { network, nodeHosts } = cluster;
  network.cut(nodeHosts, others(cluster, server));
  const endAt = Date.now() + 60_000;
  for (;;) {
    const { partitions, nodes } = await cluster
      .status()
      .catch(() => ({ partitions: [], nodes: [] }));
    const isServed = partitions.length > 0 && partitions.every(({ state }) => state === "serving");
    if (isServed && nodes.every(({ isAlive }) => isAlive)) break;
    if (Date.now() > endAt) throw new Error("the nodes do not come to one server");
    await wait(250);
  }
  network.heal();
  await wait(1_000);
}
