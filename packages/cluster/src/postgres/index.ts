export { type CreatePostgresClusterOptions, createPostgresCluster } from "./create-cluster.ts";
export { type ServePostgresNodeOptions, servePostgresNode } from "./serve-node.ts";
