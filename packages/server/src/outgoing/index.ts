export { isPublicAddress } from "./addresses.ts";
export { callOutside, type OutgoingAnswer, type OutgoingOptions } from "./call.ts";
export { OutgoingError, type OutgoingReason } from "./errors.ts";
export type { Chooser } from "./target.ts";
