export { ClusterNode, type ClusterNodeOptions, type LogShare } from "./cluster-node.ts";
export { Ownership, type OwnershipOptions } from "./ownership.ts";
