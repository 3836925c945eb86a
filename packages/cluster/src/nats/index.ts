export { checkCopyTarget } from "./log-streams.ts";
export type { NatsServers, Waiting } from "./reach-nats.ts";
export { type ServedNode, type ServeNodeOptions, serveNode } from "./serve-node.ts";
