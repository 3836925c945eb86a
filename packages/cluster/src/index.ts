export { PartitionPort } from "./partition-port/partition-port.ts";
export { RemotePartitions, type RemotePartitionsOptions } from "./partitions/remote-partitions.ts";
export { ServedPartitions, type ServedPartitionsOptions } from "./partitions/served-partitions.ts";
export * from "./router/index.ts";
