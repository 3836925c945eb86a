export { connectNats } from "./connect.ts";
export { describeDurability } from "./durability.ts";
export { NatsLog } from "./nats-log.ts";
export type { NatsLogOptions } from "./options.ts";
