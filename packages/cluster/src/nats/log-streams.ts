import { findStream } from "@sluice/log/nats";
import { SluiceError } from "@sluice/protocol";
import { NatsRegistry } from "../registry/nats-registry.ts";
import type { Nats } from "./reach-nats.ts";

/** The registry's entry of the cluster. */
const ENTRY = "cluster";

/** The stream that is the log of a partition. */
export function streamOf(cluster: string, partition: number): string {
  return `${cluster}-${partition}`;
}

/**
 * How many partitions a new cluster gets. Logs without a cluster have been copied here, or their
 * registry is lost: a cluster over more or fewer of them would look for queues in the wrong ones.
 */
export async function partitionsOf(
  cluster: string,
  connection: Nats,
  asked: number | undefined,
): Promise<number | undefined> {
  let logs = 0;
  while (await hasLog(cluster, logs, connection)) logs++;
  if (logs === 0) return asked;
  if (asked === undefined || asked === logs) return logs;
  const there =
    logs === 1 ? `is a log ${streamOf(cluster, 0)}` : `are the logs of ${logs} partitions`;
  const wanted = `the cluster ${cluster} must have --partitions ${logs}`;
  const message = `there ${there} already: ${wanted}`;
  throw new SluiceError("CONFLICT", message, { field: "partitions", value: asked });
}

/** A cluster of several partitions would look elsewhere for what is copied to one of them. */
export async function checkCopyTarget(stream: string, connection: Nats): Promise<void> {
  const [, cluster] = /^(.+)-\d+$/.exec(stream) ?? [];
  if (cluster === undefined || (await findStream(connection, `KV_${cluster}`)) === undefined)
    return;
  const registry = await NatsRegistry.open({ connection, bucket: cluster });
  const entry = await registry.get(ENTRY);
  await registry.close();
  const { partitions } = JSON.parse(entry?.value ?? "{}");
  if (partitions === undefined || partitions === 1) return;
  const message = `${stream} belongs to a cluster of ${partitions} partitions: nothing was copied`;
  throw new SluiceError("CONFLICT", message, { stream, partitions });
}

/** An empty stream is none: a `create` that was broken off may have left some. */
async function hasLog(cluster: string, partition: number, connection: Nats): Promise<boolean> {
  const found = await findStream(connection, streamOf(cluster, partition));
  return found !== undefined && found.state.last_seq > 0;
}
