/**
 * Brings back what `backupCluster` has written: a whole cluster where there is none, or one
 * partition of a cluster that runs. The entry of a new cluster is written last, so no node joins
 * one that is half restored. A restore that was interrupted is run again: the note in the registry
 * says that the streams are its own.
 */
import { findStream } from "@sluice/log/nats";
import { SluiceError } from "@sluice/protocol";
import { NATS_MS_MAX } from "../limits.ts";
import { CLUSTER_KEY, createCluster } from "../node/cluster-entry.ts";
import { keyOf } from "../node/registry-directory.ts";
import type { Registry } from "../registry/registry.ts";
import { NO_WAITING } from "../waiting.ts";
import { type BackedUpLog, type BackupNote, partitionDir, readNote } from "./backup-files.ts";
import { holdPartition, releasePartition } from "./held-partition.ts";
import { streamOf } from "./log-streams.ts";
import { clusterNameOf } from "./node-names.ts";
import { type ClusterPlace, withCluster } from "./open-cluster.ts";
import { type Nats, reachNats } from "./reach-nats.ts";
import { refillLog } from "./refill-log.ts";

export interface RestoreOptions extends ClusterPlace {
  readonly dir: string;
  /** One partition of a cluster that exists; absent: the whole cluster, which must not. */
  readonly partition?: number | undefined;
  readonly replicas?: number | undefined;
  readonly storageBytes?: number | undefined;
  /** Partitions that the backup lacks begin with nothing. */
  readonly allowMissing?: boolean | undefined;
  readonly stop?: AbortSignal | undefined;
  readonly onPartition?: ((log: BackedUpLog) => void) | undefined;
}

/** While it is there, the streams of the cluster are those of a restore that has not ended. */
const RESTORE_KEY = "restore";

export async function restoreCluster(options: RestoreOptions): Promise<BackupNote> {
  const note = await readNote(options.dir);
  if (options.partition !== undefined) await restorePartition(options, note, options.partition);
  else await restoreAll(options, note);
  return note;
}

async function restorePartition(
  options: RestoreOptions,
  note: BackupNote,
  partition: number,
): Promise<void> {
  await withCluster(options, async ({ connection, registry, name, entry }) => {
    if (entry.partitions !== note.partitions) {
      const message =
        `the backup has ${note.partitions} partitions and the cluster ${entry.partitions}: ` +
        "its queues would be in the wrong partitions";
      throw new SluiceError("CONFLICT", message, { field: "partition", value: partition });
    }
    const from = sourceOf(options, note, partition);
    await holdPartition(registry, partition, "restore");
    const { stop } = options;
    const copied = await refillLog({ connection, name, entry, partition, from, stop });
    await releasePartition(registry, partition);
    options.onPartition?.({ partition, ...copied });
  });
}

async function restoreAll(options: RestoreOptions, note: BackupNote): Promise<void> {
  const { nats, replicas, storageBytes, stop, waiting = NO_WAITING, onPartition } = options;
  const name = clusterNameOf(options.name ?? note.name);
  const { partitions, homes, level } = note;
  const sources = Array.from({ length: partitions }, (_, i) => sourceOf(options, note, i));
  const copies = replicas === undefined ? {} : { replicas };
  const asked = { bucket: name, create: true, readMs: NATS_MS_MAX, ...copies };
  const { connection, registry } = await reachNats(nats, asked, waiting);
  try {
    await beginRestore(connection, registry, name, partitions);
    const each = storageBytes === undefined ? undefined : Math.floor(storageBytes / partitions);
    for (const [partition, from] of sources.entries()) {
      const entry = { homes, level };
      const place = { connection, name, entry, partition, from, stop };
      const copied = await refillLog({ ...place, replicas, storageBytes: each });
      onPartition?.({ partition, ...copied });
    }
    for (const [queue, places] of Object.entries(note.queues)) {
      const key = keyOf(queue);
      if ((await registry.get(key)) !== undefined) continue;
      await registry.create(key, JSON.stringify({ partitions: places, ...note.moves?.[queue] }));
    }
    await createCluster(registry, { name, partitions, homes, level });
    await endRestore(registry);
  } finally {
    await registry.close();
    await connection.close();
  }
}

/** Nothing of a cluster may be here, but for what an interrupted restore has left. */
async function beginRestore(
  connection: Nats,
  registry: Registry,
  name: string,
  partitions: number,
): Promise<void> {
  if ((await registry.get(CLUSTER_KEY)) !== undefined) {
    await endRestore(registry);
    const message =
      `the cluster ${name} exists already, and nothing was restored: give the new one another ` +
      "--cluster-name, or restore a single partition with --partition N";
    throw new SluiceError("CONFLICT", message, { field: "cluster-name", value: name });
  }
  if ((await registry.get(RESTORE_KEY)) !== undefined) return;
  for (let partition = 0; partition < partitions; partition++) {
    const stream = streamOf(name, partition);
    const found = await findStream(connection, stream);
    if (found === undefined || found.state.last_seq === 0) continue;
    const message =
      `the stream ${stream} holds ${found.state.messages} messages, and there is no cluster ${name}. ` +
      "Nothing was restored: delete the stream if you do not need it, or use --cluster-name";
    throw new SluiceError("CONFLICT", message, { stream });
  }
  await registry.create(RESTORE_KEY, JSON.stringify({ partitions }));
}

async function endRestore(registry: Registry): Promise<void> {
  const found = await registry.get(RESTORE_KEY);
  if (found !== undefined) await registry.delete(RESTORE_KEY, found.revision);
}

/** The directory of a partition; undefined: it may begin with nothing. */
function sourceOf(
  { dir, allowMissing }: RestoreOptions,
  { logs, partitions }: BackupNote,
  partition: number,
): string | undefined {
  const log = logs.find((one) => one.partition === partition);
  if (log !== undefined && log.error === undefined) return partitionDir(dir, partition);
  if (log === undefined && partition >= partitions) {
    const message = `partition must be from 0 to ${partitions - 1}, got ${partition}`;
    throw new SluiceError("INVALID", message, { field: "partition", value: partition });
  }
  if (allowMissing === true) return undefined;
  const message =
    `partition ${partition} is not in the backup: ${log?.error ?? "it was not copied"}. ` +
    "With --allow-missing it starts empty";
  throw new SluiceError("NOT_FOUND", message, { field: "partition", value: partition });
}
