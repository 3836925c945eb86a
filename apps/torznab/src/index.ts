export { main } from "./command.ts";
export { Fault, type FaultOptions, type Penalty } from "./scheduler/fault.ts";
export type { Budget, IndexerLimits, Window } from "./scheduler/limits-of.ts";
export { type Outcome, RateLimitWaitError, type Status } from "./scheduler/outcome.ts";
export type { Priority } from "./scheduler/priority.ts";
export { type SchedulerOptions, SearchScheduler } from "./scheduler/scheduler.ts";
export type {
  Answer,
  Completion,
  Exec,
  ExecContext,
  Indexer,
  SubmitOptions,
} from "./scheduler/submission.ts";
export { parseSettings, type Settings } from "./settings/settings.ts";
export { type RunningTorznab, type TorznabOptions, torznab } from "./torznab.ts";
export { XmlReader } from "./xml/reader.ts";
