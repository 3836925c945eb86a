export type { EngineOptions, Overdue } from "./core.ts";
export { Engine } from "./engine.ts";
export { Refusal, type RefusalCode, type RefusalDetails } from "./errors.ts";
export type {
  Answered,
  EdgeRecord,
  ExtraRecord,
  Fact,
  GoneBodies,
  JobRecord,
  SignalledFact,
  StepFact,
  StepsRecord,
} from "./facts/facts.ts";
export type { FlowJob } from "./flows/fill.ts";
export { FLOW_OPEN_MS } from "./flows/go-on.ts";
export type { GateConfig, GatePart } from "./gates/gate-state.ts";
export type { Backoff, RetryPolicy } from "./jobs/backoff.ts";
export type { GateNews, LentLot, LotUse, Want } from "./lending/ledger.ts";
export type { BorrowerWord } from "./lending/lender.ts";
export { ADD_STEPS_MAX } from "./limits.ts";
export type { AttemptView } from "./queries/attempts.ts";
export type { DependencyPage, DependencyView } from "./queries/dependencies.ts";
export { type FailureSurvey, type FailureView, TREND_HOURS } from "./queries/failure-survey.ts";
export { failureOf, foldError } from "./queries/fold-error.ts";
export type { GatePlace } from "./queries/gate-list.ts";
export type { JobFilter, JobTime } from "./queries/job-filter.ts";
export type { FoundView, JobPlace, JobSearch } from "./queries/job-search.ts";
export type { JobCount, JobWalk } from "./queries/job-walk.ts";
export type { LanePlace, LaneShare, LaneSort, LaneSurvey } from "./queries/lane-survey.ts";
export type { OldestJob, OldestSurvey } from "./queries/oldest-survey.ts";
export { endStateOf } from "./queries/view.ts";
export type {
  Dead,
  Why,
  WhyBlocked,
  WhyDead,
  WhyDelayed,
  WhyEnded,
  WhyGated,
  WhyOrdered,
  WhyRunning,
  WhySuspended,
  WhyWaiting,
} from "./queries/why-types.ts";
export type { HeldView, WorkerSurvey, WorkerView } from "./queries/worker-survey.ts";
export type { OnFull } from "./queues/capacity.ts";
export { DurationHistogram, type TimeCounts } from "./queues/duration-histogram.ts";
export type { QueueConfig } from "./queues/queue-config.ts";
export type { TierConfig } from "./queues/tiers.ts";
export type { DueTick, DueTicks } from "./schedules/fire.ts";
export type {
  CatchUp,
  Overlap,
  ScheduleConfig,
  ScheduleRecord,
  ScheduleRun,
  TickOutcome,
} from "./schedules/schedule.ts";
export type { ScheduleView } from "./schedules/schedules.ts";
export type { ResultBody } from "./steps/kept-result.ts";
export type { StepResult } from "./steps/record-step.ts";
export { isOwnResult } from "./steps/step-names.ts";
export type { SignalEntry, StepEntry, StepKind } from "./steps/step-types.ts";
export type { StepsView } from "./steps/steps-view.ts";
export type { Suspension } from "./steps/suspend.ts";
export type {
  AddResult,
  DedupeMode,
  Dependency,
  Ending,
  EndState,
  FairnessKey,
  GateDecisions,
  GateStats,
  HistoryEntry,
  JobSpec,
  JobState,
  JobView,
  LaneStats,
  Lease,
  LogLine,
  NackOptions,
  OnDependencyFailure,
  QueueStats,
} from "./types.ts";
export { addSteps } from "./verbs/add.ts";
export { emptyHeld, type Held } from "./verbs/dispatch.ts";
