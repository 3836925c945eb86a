/** The registry of a cluster, for commands that work on its logs beside its nodes. */
import { SluiceError } from "@sluice/protocol";
import { NATS_MS_MAX } from "../limits.ts";
import { type ClusterEntry, joinCluster, noCluster } from "../node/cluster-entry.ts";
import type { Registry } from "../registry/registry.ts";
import { NO_WAITING, type Waiting } from "../waiting.ts";
import { clusterNameOf } from "./node-names.ts";
import { type Nats, type NatsServers, reachNats } from "./reach-nats.ts";

export interface ClusterPlace {
  readonly nats: NatsServers;
  /** Of the cluster. Default `sluice`. */
  readonly name?: string | undefined;
  readonly waiting?: Waiting | undefined;
}

export interface OpenCluster {
  readonly name: string;
  readonly connection: Nats;
  readonly registry: Registry;
  readonly entry: ClusterEntry;
}

/** Opens a cluster that exists, and closes the connection when `act` is done. */
export async function withCluster<T>(
  { nats, name, waiting = NO_WAITING }: ClusterPlace,
  act: (cluster: OpenCluster) => Promise<T>,
): Promise<T> {
  const bucket = clusterNameOf(name);
  const reached = await reachNats(nats, { bucket, readMs: NATS_MS_MAX }, waiting).catch((error) => {
    throw error instanceof SluiceError && error.code === "NOT_FOUND" ? noCluster() : error;
  });
  const { connection, registry } = reached;
  try {
    const entry = await joinCluster(registry);
    return await act({ name: bucket, connection, registry, entry });
  } finally {
    await registry.close();
    await connection.close();
  }
}
