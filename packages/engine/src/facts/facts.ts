import type { GateSave } from "../gates/gate-state.ts";
import type { LotUse } from "../lending/ledger.ts";
import type { Counters } from "../queues/queue-state.ts";
import type { Ending, GateConfig, HistoryEntry, JobSpec, QueueConfig } from "../types.ts";

/**
 * What happened, as it is remembered. The engine tells each fact once, in order, and after applying
 * the same facts in the same order another engine is in the same state. A snapshot is a list of
 * facts too, so there is one way to rebuild a state, not two.
 *
 * A job may be elsewhere or forgotten when the call returns that told a fact of it. Facts that
 * others need it for say in which `queue` it was; a log need not keep that, and a replay does not
 * ask.
 *
 * Every fact carries `at`, the engine's time. Applying a fact decides nothing: what to retry, what
 * to drop and whom to serve was decided when it was told.
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
  /** The job as it stands, told again because where it was told first is to be forgotten. */
  | { fact: "moved"; job: JobRecord }
  | { fact: "due"; id: number; until?: number }
  | LeasedFact
  | { fact: "extended"; id: number; until: number }
  | { fact: "returned"; id: number; queue?: string }
  | RetriedFact
  | EndedFact
  | DeadFact
  | { fact: "progress"; id: number; progress: unknown }
  | { fact: "redriven"; id: number }
  | { fact: "revived"; id: number }
  | { fact: "replaced"; id: number; sizeBytes: number; body: unknown; until?: number }
  | { fact: "follow-up"; id: number; spec: JobSpec }
  | { fact: "promoted"; id: number; tier: number }
  | { fact: "stored"; store: string; key: string; value: unknown }
  | { fact: "gate-state"; key: string; save: GateSave }
  | PositionFact
  | { fact: "key-held"; queue: string; key: string; id: number; until: number }
  | { fact: "counters"; queue: string; counters: Counters; isDlq: boolean }
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
  /** How far the clock on the wall is ahead of `at`. */
  | { fact: "wall"; aheadMs: number }
  /** What the tokens of leases are sealed with. The engine only carries it. */
  | { fact: "lease-secret"; secret: Uint8Array }
  /** The engine goes on in a new process; `lot` is the last that was lent. */
  | { fact: "life"; life: number; lot: number }
  /** A partition that borrows, and which of its lives was heard last. */
  | { fact: "borrower"; name: string; life: number }
  | LentFact
  /** How many jobs a borrower runs, and what became of its lots. */
  | { fact: "lots"; key: string; borrower: string; held: number; uses: readonly LotUse[] }
  | { fact: "lot-expired"; key: string; lot: number }
);

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
  blame: readonly string[];
  waited?: { gate: string; waitMs: number; maxWaitMs: number };
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

/** A job as it stands. A new job and one in a snapshot have the same record. */
export interface JobRecord {
  id: number;
  queue: string;
  state: "waiting" | "delayed" | "leased" | "ended";
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
  /** Waiting since, delayed until, leased until, ended at. */
  time: number;
  dispatchedMs: number;
  worker: string;
  body: unknown;
  /** Leased by a worker in the process that tells this. */
  inProcess?: true;
  ending?: Ending;
  /** The gates are those that the queue's policy has given the job. */
  policyGates?: true;
  extra?: ExtraRecord;
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
  leasesBefore?: number;
  result?: unknown;
  waited?: { gate: string; waitMs: number; maxWaitMs: number };
  history?: readonly HistoryEntry[];
  origin?: { queue: string; spec: JobSpec; attempts: number; reason: string };
  diedAt?: number;
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
