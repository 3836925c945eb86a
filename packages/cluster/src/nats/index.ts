export type { ServedNode } from "../node/served-node.ts";
export type { Waiting } from "../waiting.ts";
export { type BackupOptions, backupCluster } from "./backup-cluster.ts";
export type { BackedUpLog, BackupNote } from "./backup-files.ts";
export {
  type CreateClusterOptions,
  type CreatedCluster,
  createNatsCluster,
} from "./create-cluster.ts";
export { type DivideBackupOptions, divideIntoBackup } from "./divide-backup.ts";
export { type GrowOptions, growNatsCluster } from "./grow-cluster.ts";
export { checkCopyTarget } from "./log-streams.ts";
export { type MoveOptions, moveQueue } from "./move-queue.ts";
export type { NatsServers } from "./reach-nats.ts";
export { type ResetOptions, type ResetReport, resetPartition } from "./reset-partition.ts";
export { type RestoreOptions, restoreCluster } from "./restore-cluster.ts";
export { type ServeNodeOptions, serveNode } from "./serve-node.ts";
