export {
  BATCH_MAX,
  DELIVERY_BYTES_AIM,
  FRAME_BYTES_MAX,
  JSON_NAMES_MAX,
  JSON_VALUES_MAX,
  MESSAGE_BYTES_AIM,
  WIRE_VERSION,
} from "../limits.ts";
export {
  EVENTS,
  readAnswer,
  readCall,
  readEvents,
  type WireCall,
  type WireName,
  writeAnswer,
  writeCall,
  writeEvents,
} from "./calls.ts";
export { Channel } from "./channel.ts";
export {
  readAcks,
  readExtends,
  readNacks,
  readTokens,
  writeAcks,
  writeExtends,
  writeNacks,
  writeTokens,
} from "./ends.ts";
export { readError, writeError } from "./error-frame.ts";
export {
  type Hello,
  readCount,
  readHello,
  readWelcome,
  type Welcome,
  writeHello,
  writeWelcome,
} from "./hello.ts";
export { KIND } from "./kinds.ts";
export { readLeasedJobs, writeLeasedJob } from "./leased-jobs.ts";
export { NameCache } from "./name-cache.ts";
export { HOLD_GROUPS, readNewJobs, writeNewJob } from "./new-jobs.ts";
export { readAdded, readOutcomes, writeAdded, writeOutcomes } from "./outcomes.ts";
export { FrameReader } from "./reader.ts";
export {
  type ConsumeRequest,
  type LeaseRequest,
  readConsume,
  readLease,
  writeConsume,
  writeLease,
} from "./requests.ts";
export type { Socket } from "./socket.ts";
export { FrameWriter } from "./writer.ts";
