export type { Waiting } from "../waiting.ts";
export { createCluster } from "./cluster-entry.ts";
export { ClusterNode, type ClusterNodeOptions, type LogShare } from "./cluster-node.ts";
export { Ownership, type OwnershipOptions } from "./ownership.ts";
export type { NodeServerOptions, ServedNode } from "./served-node.ts";
