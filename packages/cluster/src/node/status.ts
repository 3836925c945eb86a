/** The cluster as one node knows it, for people and for clients that look for an owner. */
import type { ClusterStatus, PartitionInfo } from "@sluice/protocol";
import type { PartitionFigures } from "./entries.ts";
import type { Ownership } from "./ownership.ts";

export function statusOf(
  ownership: Ownership,
  cluster: {
    name: string;
    self: string;
    version: string;
    partitions: number;
    homes: number;
    storageUsed: number;
    nats: ClusterStatus["nats"];
  },
  placements: ClusterStatus["placements"],
): ClusterStatus {
  const { name, self, version, partitions, homes, storageUsed, nats } = cluster;
  const nodes = ownership.nodes();
  const figures = new Map<string, PartitionFigures>();
  for (const { id, lives } of nodes) {
    for (const one of lives) figures.set(`${id} ${one.partition}`, one);
  }
  const infos = Array.from({ length: partitions }, (_, partition) =>
    partitionOf(ownership, partition, figures),
  );
  return {
    name,
    self,
    version,
    isHearing: ownership.isHearing,
    partitionCount: partitions,
    homeCount: homes,
    storageUsed,
    nats,
    nodes: nodes.map((node) => ({
      id: node.id,
      address: node.address,
      version: node.version,
      startedAt: node.startedAt,
      isAlive: node.isAlive,
      isDraining: node.isDraining,
      silentFor: Math.max(0, Math.round(node.silentMs)),
      nats: node.nats,
      owned: infos.filter(({ owner }) => owner === node.id).length,
    })),
    partitions: infos,
    placements,
    moves: ownership.moves.all(),
    gained: ownership.moves.gained(),
  };
}

function partitionOf(
  ownership: Ownership,
  partition: number,
  figures: ReadonlyMap<string, PartitionFigures>,
): PartitionInfo {
  const owner = ownership.ownerOf(partition);
  const entry = ownership.life(partition)?.entry;
  const told = figures.get(`${owner?.node} ${partition}`);
  // Of our own we know more than we have told.
  const state = owner?.isSelf === true ? ownership.life(partition)?.state : told?.state;
  return {
    partition,
    owner: owner?.node,
    address: owner?.address,
    epoch: entry?.epoch ?? 0,
    state: owner === undefined ? (entry?.held === undefined ? "free" : "held") : (state ?? "away"),
    next: entry?.next?.node,
    lag: told?.lagMs ?? 0,
    jobs: told?.jobs ?? 0,
    openedIn: told?.openMs ?? 0,
    leader: told?.leader,
    error: state === "serving" ? undefined : told?.error,
  };
}
