export { type ClusterClientOptions, connectCluster } from "./connect-cluster.ts";
