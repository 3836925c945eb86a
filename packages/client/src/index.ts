export type {
  CloseOptions,
  ConsumptionOptions as ConsumeOptions,
  Elastic,
  WorkOptions,
} from "@sluice/protocol";
export {
  type Duration,
  FakeClock,
  type GateOptions,
  type IntervalOptions,
  type JobOptions,
  parseDuration,
  type RetryOptions,
  type Time,
} from "@sluice/protocol";
export type { SluiceParts } from "./connection.ts";
export type { Consumption } from "./consumption.ts";
export type { ConsumedJob, HandlerContext, WorkContext } from "./delivery.ts";
export type { Dependency } from "./dependency.ts";
export type { Listener } from "./emitter.ts";
export {
  type HeaderOptions,
  JobFailed,
  RetryAfter,
  type RetryAfterOptions,
  Unrecoverable,
  type UnrecoverableOptions,
} from "./errors.ts";
export type { SluiceEvents, WorkEvents } from "./events.ts";
export type {
  AddedFlow,
  AddedTree,
  FlowDependency,
  FlowGraph,
  FlowItem,
  FlowTree,
  OpenFlow,
} from "./flow.ts";
export type { Gate } from "./gate.ts";
export type { Group } from "./group.ts";
export type { BulkItem, Job, JobDetails } from "./job.ts";
export { toInstallError } from "./once.ts";
export type { CallOptions, OperationOptions } from "./parse-call.ts";
export type { Policy } from "./policy.ts";
export type { Queue } from "./queue.ts";
export type { Codec, QueueOptions, RetryRule, RuledRetry } from "./queue-options.ts";
export type { ConnectOptions } from "./remote/connect.ts";
export { LinkFeed, type LinkNews } from "./remote/link.ts";
export type { BatchHandler, BatchJob, BatchOutcomes } from "./run-batch.ts";
export type { Handler } from "./run-job.ts";
export type { Schedule } from "./schedule.ts";
export type { InputOf, OutputOf, SchemaIssue, SchemaResult, StandardSchema } from "./schema.ts";
export type { Scaled } from "./slots.ts";
export { SluiceHandles } from "./sluice-handles.ts";
export type { Steps } from "./steps.ts";
export type { Store, StoreChange, StoreItem } from "./store.ts";
export { loadTracing, type OpenTelemetry, Tracing } from "./trace.ts";
export { notTransaction, type Run, runnerOf, type Transaction } from "./transaction.ts";
export type { EventsNamed, SluiceEvent, SluiceEventFilter } from "./value-events.ts";
export type { WorkJob } from "./work-job.ts";
export type { Worker } from "./worker.ts";
