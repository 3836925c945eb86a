export { type Directory, MemoryDirectory, type Partitions } from "../directory.ts";
export { hashOf, homeOfGate, homeOfQueue, homeOfStore } from "../hash.ts";
export { ClusterRouter, type ClusterRouterOptions } from "./cluster-router.ts";
