export * from "@sluice/client";
export {
  type BrokerEvent,
  type Clock,
  type EndState,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  type EventFilter,
  type FairnessKey,
  type GateInfo,
  type GroupInfo,
  type HistoryEntry,
  type JobState,
  type LaneStats,
  type QueueInfo,
  type QueueSettings,
  type QueueStats,
  SluiceError,
  SystemClock,
  type Timer,
  type Why,
  type WorkerInfo,
} from "@sluice/protocol";
export type { Durability, OpenOptions } from "./open.ts";
export { type ServerOptions, Sluice } from "./sluice.ts";
