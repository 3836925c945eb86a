import type { Core } from "../core.ts";
import { tellEdges } from "../flows/records.ts";
import {
  ADDED,
  ATTEMPTS,
  BLOCKED_JOB,
  COST,
  DELAYED_JOB,
  DISPATCHED,
  ENDED_JOB,
  HELD_JOB,
  ID,
  IN_STRAND,
  LEASE,
  LEASED_JOB,
  SEQ,
  SIZE,
  TIME,
  WORKER,
} from "../jobs/job-fields.ts";
import type { Extra } from "../jobs/job-table.ts";
import { GATES, OWN } from "../ring/node-fields.ts";
import { stepsRecord } from "../steps/steps-record.ts";
import type { ExtraRecord, JobRecord } from "./facts.ts";

/** The record of a job in its current state, as in a `job` fact. */
export function recordOf(core: Core, row: number): JobRecord {
  const { jobs, lanes } = core;
  const lane = core.laneOf(row);
  const key = lanes.keyOf(lane);
  const state = jobs.state(row);
  const extra = jobs.extra(row);
  const worker = state === LEASED_JOB ? core.workers[jobs.int(row, WORKER)] : undefined;
  const record: JobRecord = {
    id: jobs.num(row, ID),
    queue: core.queueOf(row).name,
    state: stateOf(state),
    tier: core.tierOf(row),
    path: typeof key === "string" ? [key] : key,
    weight: lanes.get(lane, OWN),
    gates: gateKeys(core, row),
    cost: jobs.int(row, COST),
    sizeBytes: jobs.int(row, SIZE),
    attempt: jobs.int(row, ATTEMPTS) & 0xffff,
    attempts: jobs.int(row, ATTEMPTS) >>> 16,
    lease: jobs.int(row, LEASE),
    seq: jobs.num(row, SEQ),
    addedAt: jobs.num(row, ADDED),
    time: jobs.num(row, TIME),
    dispatchedMs: jobs.int(row, DISPATCHED),
    worker: worker?.name ?? "",
    body: jobs.bodies.get(row),
  };
  if (worker?.inProcess === true) record.inProcess = true;
  if (extra !== undefined) record.extra = extraOf(core, extra, record.id);
  const ending = jobs.ending(row);
  if (ending !== undefined) record.ending = ending;
  if (jobs.hasPolicyGates(row)) record.policyGates = true;
  if (jobs.isOrdered(row)) record.ordered = true;
  if (state === HELD_JOB) record.held = true;
  if (jobs.node(row) !== 0 || jobs.isDependent(row)) tellEdges(core, row, record);
  return record;
}

export function gateKeys(core: Core, row: number): readonly string[] {
  return core.gates.set(core.lanes.get(core.jobs.int(row, IN_STRAND), GATES)).keys;
}

/** How many gates the jobs of a strand name. */
export function gateCount(core: Core, strand: number): number {
  const set = core.lanes.get(strand, GATES);
  return set === 0 ? 0 : core.gates.set(set).gates.length;
}

function stateOf(state: number): JobRecord["state"] {
  if (state === LEASED_JOB) return "leased";
  if (state === DELAYED_JOB) return "delayed";
  if (state === BLOCKED_JOB) return "blocked";
  return state === ENDED_JOB ? "ended" : "waiting";
}

function extraOf(core: Core, extra: Extra, id: number): ExtraRecord {
  const record: ExtraRecord = {};
  if (extra.deadline !== Number.POSITIVE_INFINITY) record.deadline = extra.deadline;
  if (extra.wallDeadline !== Number.POSITIVE_INFINITY) record.wallDeadline = extra.wallDeadline;
  if (extra.runAt !== Number.POSITIVE_INFINITY) record.runAt = extra.runAt;
  if (extra.maxWaitMs !== Number.POSITIVE_INFINITY) record.maxWaitMs = extra.maxWaitMs;
  const held = extra.dedupe === 0 ? undefined : core.dedupes.get(extra.dedupe);
  // The row may be another job's by now: a window ends before its job does.
  if (held?.id === id && extra.dedupeMode !== undefined) {
    record.dedupe = { key: core.dedupes.keyOf(held), mode: extra.dedupeMode };
    if (held.until !== Number.POSITIVE_INFINITY) record.dedupe.until = held.until;
  }
  if (extra.followUp !== undefined) record.followUp = extra.followUp;
  if (extra.group !== 0) record.group = core.groups.nameOf(extra.group);
  if (extra.leaseMs !== 0) record.leaseMs = extra.leaseMs;
  if (extra.backoff !== undefined) record.backoff = extra.backoff;
  if (extra.error !== undefined) record.error = extra.error;
  if (extra.stack !== undefined) record.stack = extra.stack;
  if (extra.progress !== undefined) record.progress = extra.progress;
  if (extra.log !== undefined) record.log = extra.log;
  // A release before this level could not read it.
  if (extra.worker !== undefined && core.level.level > 1) record.worker = extra.worker;
  if (extra.leasesBefore !== 0) record.leasesBefore = extra.leasesBefore;
  if (extra.generation !== 0) record.generation = extra.generation;
  if (extra.result !== undefined) record.result = extra.result;
  if (extra.waited !== undefined) record.waited = extra.waited;
  if (extra.steps !== undefined) record.steps = stepsRecord(extra.steps);
  if (extra.history !== undefined) record.history = [...extra.history];
  if (extra.schedule !== undefined) record.schedule = { ...extra.schedule };
  if (extra.origin !== undefined) {
    const { at, ...origin } = extra.origin;
    record.origin = origin;
    record.diedAt = at;
  }
  return record;
}
