export {
  aborted,
  BOUNDED_CALLS,
  boundCalls,
  boundOf,
  checkOf,
  checkSignal,
  isBounded,
  optionsAt,
  parseTimeout,
  timedOut,
} from "./call-options.ts";
export type {
  Argument,
  CallRow,
  HttpRoute,
  IdPlace,
  JobNames,
  Right,
  Subject,
} from "./calls/call.ts";
export { checkCall } from "./calls/check-call.ts";
export { callsOf, defineCalls } from "./calls/derive.ts";
export { CALL_NAMES, CALL_TABLES, CALLS, type CallName, rowOf } from "./calls/index.ts";
export { checkBatch } from "./calls/kinds.ts";
export * from "./clock.ts";
export type * from "./cluster.ts";
export { counted } from "./count.ts";
export {
  type Duration,
  duration,
  durationText,
  LEASE,
  parseDuration,
  TIME,
  type Time,
  WAIT,
} from "./duration.ts";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  type ErrorJson,
  isLosing,
  SluiceError,
  toSluiceError,
} from "./errors.ts";
export * from "./event.ts";
export { EventQueue } from "./event-queue.ts";
export { FakeClock } from "./fake-clock.ts";
export { type Field, type Fields, fields, knownFields } from "./fields.ts";
export * from "./flow.ts";
export * from "./found.ts";
export type * from "./gate.ts";
export { groupName, groupsOf, queueOfGroup } from "./group.ts";
export type * from "./http.ts";
export * from "./job.ts";
export {
  checkInteger,
  invalid,
  isObject,
  KEY,
  type Kind,
  NAME,
  type Parts,
  plain,
  type Schema,
  shown,
  unknownField,
} from "./kinds.ts";
export { isKnownAdd, isOtherCall } from "./known-add.ts";
export { parseLaneKey } from "./lane-key.ts";
export {
  ATTEMPTS_MAX,
  BATCH_MAX,
  CREDITS_MAX,
  FLOW_JOBS_MAX,
  PAGE_MAX,
  PARTITIONS_MAX,
  REPLICAS_MAX,
  STEP_VALUE_BYTES_MAX,
  STEPS_MAX,
} from "./limits.ts";
export { A_NAME, isName } from "./names.ts";
export { nearest } from "./nearest.ts";
export { missingPackage, needs } from "./needs.ts";
export { checkSameCall, partOfOperation, titleOf } from "./operation.ts";
export * from "./options/index.ts";
export { allQueues, allWorkers, type PageStart, walkPages } from "./pages.ts";
export { isPattern, isWithinPattern, matchesPattern } from "./pattern.ts";
export type * from "./port.ts";
export type * from "./queue.ts";
export {
  ACTIONS,
  type Action,
  includesAction,
  KEY_ROLES,
  type KeyRole,
  roleGrants,
  type SessionGrant,
} from "./roles.ts";
export type * from "./schedule.ts";
export type * from "./stats.ts";
export { underField } from "./under-field.ts";
export { VERSION } from "./version.ts";
export type * from "./why.ts";
export { whyText } from "./why-text.ts";
