/** A new cluster in a database: its registry, the logs of its partitions, and last its entry. */
import { ensureLogTables, findLog } from "@sluice/log/postgres";
import { PARTITIONS } from "../limits.ts";
import { clusterNameOf } from "../nats/node-names.ts";
import {
  CLUSTER_KEY,
  checkPartitions,
  clusterExists,
  createCluster,
} from "../node/cluster-entry.ts";
import { NO_WAITING, type Waiting } from "../waiting.ts";
import { reachPostgres } from "./reach-postgres.ts";

export interface CreatePostgresClusterOptions {
  readonly url: string;
  /** Begins the names of its logs. Default `sluice`. */
  readonly name?: string | undefined;
  /** Default 12. */
  readonly partitions?: number | undefined;
  readonly waiting?: Waiting | undefined;
}

/** The log of a partition. */
export function logOf(cluster: string, partition: number): string {
  return `${cluster}-${partition}`;
}

/** The entry comes last: no node joins a cluster that is half made. */
export async function createPostgresCluster(
  options: CreatePostgresClusterOptions,
): Promise<{ name: string; partitions: number }> {
  const { url, partitions = PARTITIONS, waiting = NO_WAITING } = options;
  checkPartitions(partitions);
  const name = clusterNameOf(options.name);
  const { statements, registry, close } = await reachPostgres(url, name, true, waiting);
  try {
    if ((await registry.get(CLUSTER_KEY)) !== undefined) throw clusterExists(name);
    await statements.run(ensureLogTables);
    for (let partition = 0; partition < partitions; partition++) {
      await statements.run((client) => findLog(client, logOf(name, partition), true));
    }
    await createCluster(registry, { name, partitions });
    return { name, partitions };
  } finally {
    await close();
  }
}
