export { ClusterNode, type ClusterNodeOptions } from "./cluster-node.ts";
export { keepTrying } from "./within.ts";
