export { connectNats, flushed, type NatsAccess } from "./connect.ts";
export { findStream, readDurability } from "./durability.ts";
export { jetStreamManagerOf, jetStreamOf } from "./jetstream-place.ts";
export { lastingFault } from "./lasting.ts";
export { type LinkState, NatsLink } from "./nats-link.ts";
export { NatsLog, type ReadLog } from "./nats-log.ts";
export { createLogStream, readMessages, replaceLogStream } from "./nats-stream.ts";
export type { NatsLogOptions } from "./options.ts";
export { checkNatsVersion, isTestedNats, NATS_OLDEST } from "./versions.ts";
