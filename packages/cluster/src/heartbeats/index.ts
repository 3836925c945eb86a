export type { Heartbeats } from "./heartbeats.ts";
export { MemoryHeartbeats } from "./memory-heartbeats.ts";
export { NatsHeartbeats } from "./nats-heartbeats.ts";
