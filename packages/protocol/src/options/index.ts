/** The tables of options, and what is made from them. */
export {
  answerGate,
  COOLDOWN,
  COOLDOWN_REASON,
  GATE_OPTIONS,
  GATE_PATTERN,
  GATE_SCHEMA,
  type GateOptions,
  type GateSettings,
  type IntervalOptions,
  parseGate,
} from "./gate-options.ts";
export {
  checkFailure,
  checkStepName,
  checkSuspension,
  EXTEND,
  NACK,
  SUSPENSION,
} from "./held-options.ts";
export {
  FAIRNESS_KEY,
  JOB_FIELDS,
  JOB_OPTIONS,
  type JobOptions,
  PreparedJob,
  parseJob,
  readJob,
  tellOptions,
} from "./job-options.ts";
export { checkOpen, type Durability, OPEN_OPTIONS, type OpenOptions } from "./open-options.ts";
export {
  type DurationRule,
  POLICY,
  POLICY_OPTIONS,
  type PolicyChoice,
  type PolicyNumber,
  type PolicyOptions,
  type QueuePolicy,
} from "./policy-options.ts";
export {
  answerQueue,
  letterQueueConfig,
  parseQueue,
  QUEUE_OPTIONS,
  QUEUE_SCHEMA,
  type QueueOptions,
  type QueueSettings,
} from "./queue-options.ts";
export type { QueueRetryOptions, RetryOptions } from "./retry-options.ts";
export {
  answerSchedule,
  BACKFILL_TIME,
  type ParsedSchedule,
  parseSchedule,
  SCHEDULE_OPTIONS,
  type ScheduleOptions,
  type ScheduleSettings,
} from "./schedule-options.ts";
export {
  among,
  BROKER_OPTIONS,
  type BrokerLimits,
  type BrokerSettings,
  flagOf,
  LIMIT_OPTIONS,
  type LimitSettings,
  parseBroker,
  parseLimits,
  RESUME,
  SERVER_OPTIONS,
  type ServerLimits,
  type ServerSettings,
  variableOf,
} from "./server-options.ts";
export {
  parseStep,
  parseWait,
  STEP_OPTIONS,
  type StepOptions,
  WAIT_OPTIONS,
  type WaitOptions,
} from "./step-options.ts";
export {
  type BatchRule,
  CLOSE_OPTIONS,
  type CloseOptions,
  CONSUME_OPTIONS,
  type ConsumptionOptions,
  type ConsumptionWork,
  type Elastic,
  type ElasticRule,
  parseClose,
  parseConsume,
  parseWork,
  WORK_OPTIONS,
  type Work,
  type WorkOptions,
} from "./worker-options.ts";
