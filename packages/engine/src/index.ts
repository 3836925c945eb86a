export { addSteps } from "./add-steps.ts";
export type { BodySink, EngineOptions, LeaseJudge } from "./core.ts";
export { Engine } from "./engine.ts";
export { Refusal, type RefusalCode, type RefusalDetails } from "./errors.ts";
export type { ExtraRecord, Fact, FactSink, JobRecord } from "./facts.ts";
export type { GatePlace } from "./gate-list.ts";
export type { LanePlace, LaneShare, LaneSort, LaneSurvey } from "./lane-survey.ts";
export type { BorrowerWord } from "./lend.ts";
export type { LentLot, LotUse, Want } from "./lending.ts";
export { ADD_STEPS_MAX } from "./limits.ts";
export type { GateNews } from "./news.ts";
export type { OldestJob, OldestSurvey } from "./oldest-survey.ts";
export type { Answered } from "./operations.ts";
export { type TimeCounts, Times } from "./times.ts";
export type {
  AddResult,
  DedupeMode,
  Ending,
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
  QueueOptions,
  QueueStats,
  RetryPolicy,
  TierConfig,
} from "./types.ts";
export type { Why } from "./why-types.ts";
