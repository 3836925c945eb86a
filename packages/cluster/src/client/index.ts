export { type ClusterClientOptions, connectCluster } from "./connect-cluster.ts";
export { type ClientTls, dialWs } from "./dial-ws.ts";
