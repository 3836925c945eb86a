export { MemoryRegistry } from "./memory-registry.ts";
export { NatsRegistry, type NatsRegistryOptions } from "./nats-registry.ts";
export type { Entry, Registry, WatchedEntry } from "./registry.ts";
