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
