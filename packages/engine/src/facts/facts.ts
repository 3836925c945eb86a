import type { GateConfig, GateSave } from "../gates/gate-state.ts";
import type { LotUse } from "../lending/ledger.ts";
import type { QueueConfig } from "../queues/queue-config.ts";
import type { ScheduleRecord, ScheduleRun, TickOutcome } from "../schedules/schedule.ts";
import type { Pending, SignalEntry, StepEntry, StepKind } from "../steps/step-types.ts";
import type {
  Ending,
  HistoryEntry,
  JobSpec,
  LogLine,
  OnDependencyFailure,
  QueueCounters,
} from "../types.ts";

/**
 * What happened, as it is remembered. The engine emits each fact once, in order. After applying
 * the same facts in the same order another engine is in the same state. A snapshot is a list of
 * facts too, so there is one way to rebuild a state, not two.
 *
 * When a call that emitted a fact of a job returns, the job may be elsewhere or forgotten. Facts
 * that others need it for say in which `queue` it was; a log need not keep that, and a replay does
 * not ask.
 *
 * Every fact carries `at`, the engine's time. Applying a fact decides nothing: what to retry, what
 * to drop and whom to serve was decided when it was emitted.
 */
export type Fact = { at: number } & (
  | { fact: "queue"; name: string; config: QueueConfig }
  | { fact: "queue-deleted"; name: string }
  | { fact: "purged"; name: string; upTo: number }
  | { fact: "purge-ended"; name: string }
  | { fact: "weight"; queue: string; key: readonly string[]; weight: number }
  | { fact: "gate"; key: string; config: GateConfig | undefined }
  | { fact: "cooled"; key: string; until: number; reason: string }
  | { fact: "cleared"; key: string }
  | { fact: "reported"; key: string; ok: boolean }
  | { fact: "job"; job: JobRecord }
  /** The current state of a job, emitted again because its first fact is to be forgotten. */
  | { fact: "moved"; job: JobRecord }
  | { fact: "due"; id: number; until?: number }
  | LeasedFact
  | { fact: "extended"; id: number; until: number }
  | { fact: "returned"; id: number; queue?: string }
  | RetriedFact
  | EndedFact
  | DeadFact
  | { fact: "progress"; id: number; progress: unknown }
  | { fact: "logged"; id: number; lines: readonly string[] }
  | StepFact
  | SuspendedFact
  | SignalledFact
  /** A cost at a gate was corrected: more was used than was taken, or less. */
  | { fact: "charged"; key: string; cost: number }
  | { fact: "redriven"; id: number }
  /** An ended job was deleted by hand. */
  | { fact: "forgotten"; id: number }
  /** A job was put into another queue by hand, and starts over there. */
  | { fact: "transferred"; id: number; to: string }
  | { fact: "revived"; id: number }
  | { fact: "replaced"; id: number; sizeBytes: number; body: unknown; until?: number }
  | { fact: "follow-up"; id: number; spec: JobSpec }
  | { fact: "promoted"; id: number; tier: number }
  /** More jobs for one to wait for, while its flow is not sealed. */
  | { fact: "linked"; id: number; after: readonly EdgeRecord[] }
  /** Ended jobs for which no other waits any more: they are kept like others from now on. */
  | { fact: "released"; ids: readonly number[] }
  | { fact: "flow"; flow: number; state: "open" | "sealed" | "cancelled"; until: number }
  | { fact: "stored"; store: string; key: string; value: unknown }
  /** The current state of a schedule. */
  | { fact: "schedule"; key: string; schedule: ScheduleRecord }
  | { fact: "schedule-deleted"; key: string }
  | TickedFact
  | { fact: "gate-state"; key: string; save: GateSave }
  | PositionFact
  | { fact: "key-held"; queue: string; key: string; id: number; until: number }
  | { fact: "counters"; queue: string; counters: QueueCounters; isDlq: boolean }
  | {
      fact: "group";
      name: string;
      members: readonly (readonly [number, Ending | undefined])[];
      ended: boolean;
      held: boolean;
    }
  | { fact: "group-ended"; name: string }
  /** More members come with another call. */
  | { fact: "group-held"; name: string }
  | { fact: "group-released"; name: string }
  /** What a call was answered under this name, first at `since`. */
  | {
      fact: "answered";
      operation: string;
      call: string;
      since: number;
      answers: readonly Answered[];
    }
  | { fact: "ids"; last: number; seq: number }
  /** How far the wall clock is ahead of `at`. */
  | { fact: "wall"; aheadMs: number }
  /** What a reader must understand from here on, and the first release that does. */
  | { fact: "level"; level: number; needs: string }
  /** What the tokens of leases are sealed with. The engine only carries it. */
  | { fact: "lease-secret"; secret: Uint8Array }
  /** The engine continues in a new process; `lot` is the last that was lent. */
  | { fact: "life"; life: number; lot: number }
  /** A partition that borrows, and which of its lives was heard last. */
  | { fact: "borrower"; name: string; life: number }
  | LentFact
  /** How many jobs a borrower runs, and what became of its lots. */
  | { fact: "lots"; key: string; borrower: string; held: number; uses: readonly LotUse[] }
  | { fact: "lot-expired"; key: string; lot: number }
);

/** What became of a tick. The fact of the job that it added comes just before. */
interface TickedFact {
  fact: "ticked";
  key: string;
  tick: number;
  outcome: TickOutcome;
  job: number | undefined;
  error: string | undefined;
  /** The fact covers all ticks after this one: they were too many for a fact each. */
  after: number | undefined;
  /** The tick that comes next, and when it is due; undefined: there is none. */
  next: number | undefined;
  due: number | undefined;
}

interface LentFact {
  fact: "lent";
  key: string;
  borrower: string;
  lot: number;
  cost: number;
  jobs: number;
  until: number;
}

interface DeadFact {
  fact: "dead";
  id: number;
  queue?: string;
  reason: string;
  /** The attempts that it had used; absent: this failure used one more. */
  attempts?: number;
  error?: string;
  stack?: string;
  blame: readonly string[];
}

/** A step of a job is done. */
export interface StepFact {
  fact: "step";
  id: number;
  queue?: string;
  name: string;
  occurrence: number;
  kind: StepKind;
  sizeBytes: number;
  /** Of a wait: the number of the signal that it took. */
  signal?: number;
  /** Its result; absent: it has none. */
  body?: unknown;
}

/** A leased job waits for a step, and holds nothing. */
interface SuspendedFact {
  fact: "suspended";
  id: number;
  queue?: string;
  name: string;
  occurrence: number;
  kind: StepKind;
  until: number;
  /** Of the step, without those of the job. */
  gates: readonly string[];
  cost: number;
  /** How often the step has failed; 0: that is not why. */
  failures: number;
  error?: string;
}

/** A value was sent to a job. */
export interface SignalledFact {
  fact: "signalled";
  id: number;
  queue?: string;
  name: string;
  index: number;
  sizeBytes: number;
  body: unknown;
}

interface RetriedFact {
  fact: "retried";
  id: number;
  queue?: string;
  attempt: number;
  until: number;
  event: "failed" | "expired" | "retried";
  error?: string;
  stack?: string;
  blame: readonly string[];
}

interface EndedFact {
  fact: "ended";
  id: number;
  queue?: string;
  ending: Ending;
  error?: string;
  stack?: string;
  result?: unknown;
  /** The result, when the fact of a step before this one has it: it is not written. */
  aside?: unknown;
  blame: readonly string[];
  waited?: { gate: string; waitMs: number; maxWaitMs: number };
  /** Other jobs need it: it is not forgotten before it is released. */
  needed?: true;
}

interface LeasedFact {
  fact: "leased";
  id: number;
  lease: number;
  until: number;
  worker: string;
  /** The worker lives in the process that tells this. */
  inProcess?: true;
}

/** How far ahead of its round a lane is, in its tier's ring. */
interface PositionFact {
  fact: "position";
  queue: string;
  tier: number;
  path: readonly string[];
  isLevel: boolean;
  rounds: number;
  rem: number;
}

/** The current state of a job. A new job and one in a snapshot have the same record. */
export interface JobRecord {
  id: number;
  queue: string;
  state: "waiting" | "delayed" | "leased" | "ended" | "blocked";
  tier: number;
  path: readonly string[];
  /** The weight that a job has set for its lane; 0: none has. */
  weight: number;
  gates: readonly string[];
  cost: number;
  sizeBytes: number;
  attempt: number;
  attempts: number;
  lease: number;
  seq: number;
  addedAt: number;
  /** Waiting since, delayed until, leased until, ended at; blocked: for how long delayed then. */
  time: number;
  dispatchedMs: number;
  worker: string;
  body: unknown;
  /** Leased by a worker in the process that tells this. */
  inProcess?: true;
  ending?: Ending;
  /** The gates are those that the queue's policy has given the job. */
  policyGates?: true;
  /** The jobs that it waits for, in order; of one that has ended, none any more. */
  after?: readonly EdgeRecord[];
  /** The flow that it is in and that is not sealed. */
  flow?: number;
  /** It has ended, and other jobs need it still. */
  needed?: true;
  /** It has its place among the ordered jobs of its lane. */
  ordered?: true;
  /** Waiting: for those ahead of it in that order. Its `time` is when it is due. */
  held?: true;
  extra?: ExtraRecord;
}

/** A job that another waits for, and how it ended, if that is settled. */
export interface EdgeRecord {
  id: number;
  on: OnDependencyFailure;
  ending?: Ending;
}

/** The rarer part of a record; absent fields are at their default. */
export interface ExtraRecord {
  deadline?: number;
  /** On the wall; what `deadline` and the record's `time` say follows from them. */
  wallDeadline?: number;
  runAt?: number;
  maxWaitMs?: number;
  dedupe?: { key: string; mode: NonNullable<JobSpec["dedupe"]>["mode"]; until?: number };
  followUp?: JobSpec;
  group?: string;
  leaseMs?: number;
  backoff?: JobSpec["backoff"];
  error?: string;
  stack?: string;
  progress?: unknown;
  log?: readonly LogLine[];
  /** Who held it last. */
  worker?: string;
  leasesBefore?: number;
  generation?: number;
  result?: unknown;
  waited?: { gate: string; waitMs: number; maxWaitMs: number };
  steps?: StepsRecord;
  history?: readonly HistoryEntry[];
  origin?: { queue: string; spec: JobSpec; attempts: number; reason: string };
  diedAt?: number;
  /** The tick that added it. */
  schedule?: ScheduleRun;
}

/** What a job remembers of its steps. Results and values have facts of their own. */
export interface StepsRecord {
  steps: readonly (Omit<StepEntry, "body" | "error"> & { error?: string })[];
  signals: readonly Omit<SignalEntry, "body">[];
  signalled: number;
  pending?: Pending;
  base?: { gates: readonly string[]; cost: number };
}

/** Bodies that no job has any more, and their sizes, place by place. */
export interface GoneBodies {
  readonly bodies: unknown[];
  readonly sizes: number[];
}

/** What some items of a call were answered: `count` of them alike, from `item` on. */
export interface Answered {
  item: number;
  count: number;
  answer: unknown;
}

/** What takes facts and knows the time: a part of the engine tells its changes to it. */
export interface Teller {
  /** Time never goes back: answers the largest `now` that was seen. */
  clock(now: number): number;
  tell(fact: Fact): void;
}
