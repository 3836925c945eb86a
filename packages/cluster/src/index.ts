export { PartitionPort } from "./partition-port/partition-port.ts";
export {
  LocalPartitions,
  type LocalPartitionsOptions,
  moved,
} from "./partitions/local-partitions.ts";
export { type PairedSocket, socketPair } from "./partitions/socket-pair.ts";
export * from "./router/index.ts";
