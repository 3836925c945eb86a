export { LocalBroker, openBroker } from "./broker.ts";
export { SystemClock } from "./clock.ts";
export type { OpenOptions } from "./options.ts";
export type { RecoveryProgress } from "./recovery.ts";
