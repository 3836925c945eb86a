export { ClusterNode, type ClusterNodeOptions } from "./cluster-node.ts";
