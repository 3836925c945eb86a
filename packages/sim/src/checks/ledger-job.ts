// A job as the harness knows it.

import type { Ending, JobRecord } from "@sluice/engine";

export interface Origin {
  readonly queue: string;
  readonly tier: number;
  readonly gates: readonly string[];
  readonly cost: number;
  readonly path: readonly string[];
  readonly maxWaitMs: number;
  // What jobs had given its lane; 0: nothing.
  readonly weight: number;
}

export interface LedgerJob {
  readonly id: number;
  queue: string;
  state: "waiting" | "delayed" | "leased" | "ended";
  tier: number;
  path: readonly string[];
  gates: readonly string[];
  // What the job says about its lane; 0: nothing.
  weight: number;
  cost: number;
  sizeBytes: number;
  attempt: number;
  attempts: number;
  lease: number;
  worker: string;
  body: unknown;
  // Waiting since, delayed until, leased until.
  time: number;
  // Rises with every entry into a strand; a job given back keeps its own.
  order: number;
  deadline: number;
  maxWaitMs: number;
  dedupe: string | undefined;
  group: string | undefined;
  hasFollowUp: boolean;
  // A purge has been called for and has yet to get to it.
  isPurged: boolean;
  ending: Ending | undefined;
  origin: Origin | undefined;
  // The leases that it had when it last began from its first attempt.
  leasesBefore: number;
}

export function jobOf(record: JobRecord): LedgerJob {
  const { extra } = record;
  return {
    id: record.id,
    queue: record.queue,
    state: record.state,
    tier: record.tier,
    path: record.path,
    // Sets of gates have no order; the engine's own changes with a restart.
    gates: [...record.gates].sort(),
    weight: record.weight,
    cost: record.cost,
    sizeBytes: record.sizeBytes,
    attempt: record.attempt,
    attempts: record.attempts,
    lease: record.lease,
    worker: record.worker,
    body: record.body,
    time: record.time,
    order: 0,
    deadline: extra?.deadline ?? Infinity,
    maxWaitMs: extra?.maxWaitMs ?? Infinity,
    dedupe: extra?.dedupe?.key,
    group: extra?.group,
    hasFollowUp: false,
    isPurged: false,
    ending: undefined,
    origin: undefined,
    leasesBefore: extra?.leasesBefore ?? 0,
  };
}
