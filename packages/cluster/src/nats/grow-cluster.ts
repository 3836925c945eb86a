/** More partitions for a cluster that runs. They take new queues; what exists stays where it is. */
import { createLogStream, findStream } from "@sluice/log/nats";
import { SluiceError } from "@sluice/protocol";
import { checkPartitions, growCluster } from "../node/cluster-entry.ts";
import { streamOf } from "./log-streams.ts";
import { type ClusterPlace, withCluster } from "./open-cluster.ts";

export interface GrowOptions extends ClusterPlace {
  /** How many there shall be. */
  readonly partitions: number;
}

/**
 * The streams come first: nodes open the new partitions as soon as the entry names them. A growth
 * that was interrupted is run again.
 */
export function growNatsCluster(options: GrowOptions): Promise<{ before: number; now: number }> {
  const { partitions } = options;
  checkPartitions(partitions);
  return withCluster(options, async ({ connection, registry, name, entry }) => {
    const first = await findStream(connection, streamOf(name, 0));
    const { num_replicas: replicas, max_bytes = -1 } = first?.config ?? {};
    const bound = max_bytes > 0 ? { storageBytes: max_bytes } : {};
    for (let partition = entry.partitions; partition < partitions; partition++) {
      const stream = streamOf(name, partition);
      const found = await findStream(connection, stream);
      if (found !== undefined && found.state.last_seq > 0) {
        const message = `the stream ${stream} exists and is not empty: nothing was added`;
        throw new SluiceError("CONFLICT", message, { stream });
      }
      const copies = replicas === undefined ? {} : { replicas };
      await createLogStream({ connection, stream, ...copies, ...bound });
    }
    const before = await growCluster(registry, partitions);
    return { before, now: partitions };
  });
}
