export { LocalBroker, openBroker } from "./broker.ts";
export type { Grant, Homes, LendAnswer, LendRequest } from "./lending/port.ts";
export type { OpenOptions } from "./options.ts";
export type { RecoveryProgress } from "./recovery.ts";
