export { connectNats, type NatsAccess } from "./connect.ts";
export { findStream, readDurability } from "./durability.ts";
export { lastingFault } from "./lasting.ts";
export { NatsLog } from "./nats-log.ts";
export type { NatsLogOptions } from "./options.ts";
