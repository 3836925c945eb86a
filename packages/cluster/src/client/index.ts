export { type ClusterClientOptions, connectCluster } from "./connect-cluster.ts";
export { connectProblem } from "./connect-problem.ts";
export { type ClientTls, dialWs } from "./dial-ws.ts";
