/**
 * Copies a cluster to a directory while its nodes work. Each partition is read up to what was its
 * end at one moment, so its copy is a state that it had; copies of several partitions are of
 * different moments.
 */

import { rm } from "node:fs/promises";
import { type Copied, checkEmpty, copyBatches, FileLog } from "@sluice/log";
import { NatsLog } from "@sluice/log/nats";
import { type SluiceError, toSluiceError } from "@sluice/protocol";
import { BACKUP_TRIES } from "../limits.ts";
import { ANCHOR_PREFIX, parseAnchor } from "../node/entries.ts";
import { readPlacements } from "../node/registry-directory.ts";
import {
  type BackedUpLog,
  type BackupNote,
  makeBackupDir,
  partitionDir,
  writeNote,
} from "./backup-files.ts";
import { streamOf } from "./log-streams.ts";
import { type ClusterPlace, type OpenCluster, withCluster } from "./open-cluster.ts";

export interface BackupOptions extends ClusterPlace {
  readonly dir: string;
  readonly stop?: AbortSignal | undefined;
  /** A partition was copied, or could not be. */
  readonly onPartition?: ((log: BackedUpLog) => void) | undefined;
}

export function backupCluster(options: BackupOptions): Promise<BackupNote> {
  return withCluster(options, async (cluster) => {
    const { dir, onPartition } = options;
    const { entry, name, registry } = cluster;
    await makeBackupDir(dir);
    const takenAt = Date.now();
    const logs: BackedUpLog[] = [];
    for (let partition = 0; partition < entry.partitions; partition++) {
      const log = await backUp(cluster, partition, options);
      logs.push(log);
      onPartition?.(log);
    }
    // Read last: a queue that was spread meanwhile is found wherever its jobs may be.
    const placements = Object.entries(await readPlacements(registry));
    const queues = Object.fromEntries(placements.map(([queue, one]) => [queue, one.partitions]));
    const moved = placements.filter(([, { adds, to }]) => adds !== undefined || to !== undefined);
    const moves = Object.fromEntries(moved.map(([queue, { adds, to }]) => [queue, { adds, to }]));
    const { partitions, homes, level } = entry;
    const all = { name, partitions, homes, level, takenAt, logs, queues };
    const note: BackupNote = { format: 1, ...all, ...(moved.length === 0 ? {} : { moves }) };
    await writeNote(dir, note);
    return note;
  });
}

/** One that is damaged is named, and the others are copied all the same. */
async function backUp(
  cluster: OpenCluster,
  partition: number,
  { dir, stop }: BackupOptions,
): Promise<BackedUpLog> {
  let error: SluiceError | undefined;
  for (let tries = 0; tries < BACKUP_TRIES; tries++) {
    const path = partitionDir(dir, partition);
    try {
      return { partition, ...(await copyPartition(cluster, partition, path, stop)) };
    } catch (cause) {
      error = toSluiceError(cause);
      await rm(path, { recursive: true, force: true });
      // Its owner has trimmed it under the reader: once more from the beginning.
      if (error.code !== "LOG_FAILED") break;
    }
  }
  if (error?.code === "ABORTED") throw error;
  return { partition, batches: 0, factsBytes: 0, error: error!.message };
}

async function copyPartition(
  { connection, registry, name }: OpenCluster,
  partition: number,
  dir: string,
  stop: AbortSignal | undefined,
): Promise<Copied> {
  const anchor = parseAnchor((await registry.get(ANCHOR_PREFIX + partition))?.value);
  const stream = streamOf(name, partition);
  const from = await NatsLog.read({ connection, stream, anchor });
  try {
    const to = await FileLog.open({ dir });
    try {
      await checkEmpty(dir, to);
      return await copyBatches(from, to, { stop });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}
