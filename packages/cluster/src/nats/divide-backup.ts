/**
 * Divides a log over the partitions of a cluster that is to be made: into a directory as
 * `backupCluster` writes it, from which `restoreCluster` makes the cluster.
 */
import { divideLog, FEATURE_LEVEL } from "@sluice/broker";
import { checkEmpty, FileLog, type Log } from "@sluice/log";
import { homeOfGate, homeOfQueue, homeOfStore } from "../hash.ts";
import { checkPartitions } from "../node/cluster-entry.ts";
import { type BackupNote, makeBackupDir, partitionDir, writeNote } from "./backup-files.ts";
import { clusterNameOf } from "./node-names.ts";

export interface DivideBackupOptions {
  /** Is only read; must not have been replayed. */
  readonly log: Log;
  readonly dir: string;
  readonly partitions: number;
  readonly stop?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export async function divideIntoBackup(options: DivideBackupOptions): Promise<BackupNote> {
  const { log, dir, partitions: count, stop, onProgress } = options;
  checkPartitions(count);
  await makeBackupDir(dir);
  const takenAt = Date.now();
  const parts: FileLog[] = [];
  try {
    for (let partition = 0; partition < count; partition++) {
      const path = partitionDir(dir, partition);
      const part = await FileLog.open({ dir: path });
      parts.push(part);
      await checkEmpty(path, part);
    }
    const homes = {
      count,
      homeOfQueue: (queue: string) => homeOfQueue(queue, count),
      homeOfGate: (gate: string) => homeOfGate(gate, count),
      homeOfStore: (store: string) => homeOfStore(store, count),
    };
    const { written, queues } = await divideLog({ log, homes, parts, stop, onProgress });
    const logs = written.map((part, partition) => ({ partition, ...part }));
    const all = { partitions: count, homes: count, level: FEATURE_LEVEL, takenAt, logs, queues };
    const note: BackupNote = { format: 1, name: clusterNameOf(undefined), ...all };
    await writeNote(dir, note);
    return note;
  } finally {
    for (const part of parts) await part.close();
  }
}
