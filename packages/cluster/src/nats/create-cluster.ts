/** A new cluster on NATS: its registry, the streams of its partitions, and last its entry. */
import { createLogStream } from "@sluice/log/nats";
import { checkInteger, REPLICAS_MAX } from "@sluice/protocol";
import { PARTITIONS } from "../limits.ts";
import {
  CLUSTER_KEY,
  checkPartitions,
  clusterExists,
  createCluster,
} from "../node/cluster-entry.ts";
import { NO_WAITING, type Waiting } from "../waiting.ts";
import { partitionsOf, streamOf } from "./log-streams.ts";
import { clusterNameOf } from "./node-names.ts";
import { type NatsServers, patiently, reachNats, shownAddress } from "./reach-nats.ts";

export interface CreateClusterOptions {
  readonly nats: NatsServers;
  /** Names its bucket, and begins the names of its streams. Default `sluice`. */
  readonly name?: string | undefined;
  /** Default 12, or as many as there are logs. */
  readonly partitions?: number | undefined;
  /** Copies of logs and registry. Default: 3 where there are several servers. */
  readonly replicas?: number | undefined;
  /** What all logs together may hold on each server, which reserves it. Default: no bound. */
  readonly storageBytes?: number | undefined;
  readonly waiting?: Waiting | undefined;
}

export interface CreatedCluster {
  readonly name: string;
  readonly partitions: number;
}

/** The entry comes last: no node joins a cluster that is half made. */
export async function createNatsCluster(options: CreateClusterOptions): Promise<CreatedCluster> {
  const { nats, replicas, storageBytes, waiting = NO_WAITING } = options;
  if (options.partitions !== undefined) checkPartitions(options.partitions);
  if (replicas !== undefined) checkInteger("replicas", replicas, 1, REPLICAS_MAX);
  const name = clusterNameOf(options.name);
  const copies = replicas === undefined ? {} : { replicas };
  const asked = { bucket: name, create: true, ...copies };
  const { connection, registry } = await reachNats(nats, asked, waiting);
  try {
    const make = async (): Promise<CreatedCluster> => {
      if ((await registry.get(CLUSTER_KEY)) !== undefined) throw clusterExists(name);
      const found = await partitionsOf(name, connection, options.partitions);
      const partitions = found ?? PARTITIONS;
      const each = storageBytes === undefined ? undefined : Math.floor(storageBytes / partitions);
      for (let partition = 0; partition < partitions; partition++) {
        const stream = streamOf(name, partition);
        await createLogStream({ connection, stream, storageBytes: each, ...copies });
      }
      await createCluster(registry, { name, partitions });
      return { name, partitions };
    };
    return await patiently(waiting, shownAddress(nats), make);
  } finally {
    await registry.close();
    await connection.close();
  }
}
