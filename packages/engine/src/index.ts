export type { EngineOptions, Overdue } from "./core.ts";
export { Engine } from "./engine.ts";
export { Refusal, type RefusalCode, type RefusalDetails } from "./errors.ts";
export type { Answered, ExtraRecord, Fact, GoneBodies, JobRecord } from "./facts/facts.ts";
export type { GateNews, LentLot, LotUse, Want } from "./lending/ledger.ts";
export type { BorrowerWord } from "./lending/lender.ts";

export { ADD_STEPS_MAX } from "./limits.ts";
export type { GatePlace } from "./queries/gate-list.ts";
export type { LanePlace, LaneShare, LaneSort, LaneSurvey } from "./queries/lane-survey.ts";
export type { OldestJob, OldestSurvey } from "./queries/oldest-survey.ts";
export { endStateOf } from "./queries/view.ts";
export type {
  Dead,
  Why,
  WhyDead,
  WhyDelayed,
  WhyEnded,
  WhyGated,
  WhyRunning,
  WhyWaiting,
} from "./queries/why-types.ts";
export { DurationHistogram, type TimeCounts } from "./queues/duration-histogram.ts";
export type {
  AddResult,
  Backoff,
  DedupeMode,
  Ending,
  EndState,
  FairnessKey,
  GateConfig,
  GateDecisions,
  GatePart,
  GateStats,
  HistoryEntry,
  JobSpec,
  JobState,
  JobView,
  LaneStats,
  Lease,
  NackOptions,
  OnFull,
  QueueConfig,
  QueueStats,
  RetryPolicy,
  TierConfig,
} from "./types.ts";
export { addSteps } from "./verbs/add.ts";
