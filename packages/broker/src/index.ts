export { LocalBroker, openBroker } from "./broker.ts";
export { FEATURE_LEVEL, releaseOf, tooNew } from "./codec/levels.ts";
export { divideLog } from "./divide/divide-log.ts";
export type { FeatureLevel } from "./features.ts";
export type { Grant, Homes, LendAnswer, LendRequest } from "./lending/port.ts";
export type { OpenOptions } from "./options.ts";
export type { RecoveryProgress } from "./recovery.ts";
