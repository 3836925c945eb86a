export { allQueues } from "./all-queues.ts";
export {
  aborted,
  type BoundedCall,
  boundCalls,
  parseTimeout,
  timedOut,
} from "./call-options.ts";
export type * from "./clock.ts";
export { counted } from "./count.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  type ErrorJson,
  SluiceError,
  toSluiceError,
} from "./errors.ts";
export * from "./event.ts";
export type * from "./gate.ts";
export { groupName, groupsOf, queueOfGroup } from "./group.ts";
export type * from "./http.ts";
export type * from "./job.ts";
export { checkSameCall, titleOf } from "./operation.ts";
export { isPattern, isWithinPattern, matchesPattern } from "./pattern.ts";
export type * from "./policy.ts";
export type * from "./port.ts";
export type * from "./queue.ts";
export type * from "./stats.ts";
export type * from "./why.ts";
export { whyText } from "./why-text.ts";
