import type { Core } from "../core.ts";
import { invalid, Refusal } from "../errors.ts";
import { recordOf } from "../facts/record.ts";
import { checkDependencies, waits } from "../flows/blocked.ts";
import type { GateLine, GateSet } from "../gates/gate-line.ts";
import { waitTooLong } from "../gates/max-waits.ts";
import type { Backoff, RetryPolicy } from "../jobs/backoff.ts";
import type { HeldKey } from "../jobs/dedupe.ts";
import * as jobFields from "../jobs/job-fields.ts";
import { delay, leaveStrand, undelay } from "../jobs/moves.ts";
import { isHeld } from "../jobs/ordered.ts";
import { admit, roomFor, roomToBlock, roomToReplace } from "../queues/capacity.ts";
import type { QueueState } from "../queues/queue-state.ts";
import { tierOf } from "../queues/tiers.ts";
import { hasStarted } from "../steps/notebook.ts";
import type { AddResult, JobSpec } from "../types.ts";
import { begin } from "./begin.ts";
import { endPurged, isPurged } from "./end.ts";

const { BLOCKED_JOB, ENDED_JOB, DELAYED_JOB, ID, LEASED_JOB, SEQ, SIZE, TIME, WAITING_JOB } =
  jobFields;

/** Steps of one gate, and of one more level of a path: made on first use, looked up after that. */
const STEPS_PER_PART = 2;

/**
 * Adds one job, or answers with the one that its dedupe key names. Its numbers and names are valid,
 * as the port leaves them; what depends on its queue and its gates is refused here.
 */
export function add(core: Core, queue: QueueState, spec: JobSpec, now: number): AddResult {
  assertParsed(spec);
  const wanted = tierOf(spec.priority, queue.config);
  if (spec.backoff !== undefined) checkBackoff(spec.backoff, queue.config.retry);
  if (spec.dedupe !== undefined) {
    if (spec.dedupe.mode === "debounce" && spec.delayMs === undefined) {
      throw invalid("job.delay", 'given when job.dedupe.mode is "debounce"', spec.delayMs);
    }
    const known = knownBy(core, queue, spec.dedupe.key, spec, wanted, now);
    if (known !== undefined) return known;
  }
  if (spec.dependencies !== undefined) checkDependencies(core, spec.dependencies);
  const set = core.gates.setOf(spec.gates, now);
  if (set.id !== 0) checkCost(set, spec.cost ?? 1);
  const dueAt = core.dueAt(spec, now);
  const { flow, dependencies } = spec;
  const isBlocked = flow !== undefined || (dependencies !== undefined && waits(core, dependencies));
  // A delayed or blocked job is judged when it is due, by its gates as they are then.
  if (spec.maxWaitMs !== undefined && dueAt <= now && !isBlocked) {
    checkWait(set, spec, spec.maxWaitMs, wanted, now);
  }
  const tier = isBlocked
    ? roomToBlock(queue, wanted)
    : roomFor(core, queue, spec, wanted, dueAt - now);
  if (tier === -1) return dropped(queue, wanted);
  admit(queue, now);
  return { id: begin(core, queue, spec, tier, dueAt, now), tier };
}

/** Rows have integers: what is none would be stored as 0. */
function assertParsed(spec: JobSpec): void {
  const { cost, attempts, sizeBytes } = spec;
  const isGood = (cost === undefined || cost >= 1) && (attempts === undefined || attempts >= 1);
  if (!isGood || !(sizeBytes === undefined || sizeBytes >= 0)) throw unparsed(spec);
}

function unparsed({ cost, attempts, sizeBytes }: JobSpec): TypeError {
  return new TypeError(`a job of cost ${cost}, attempts ${attempts}, ${sizeBytes} bytes`);
}

/** A job changes some of its queue's policy: the whole must make sense. */
function checkBackoff({ minMs, maxMs }: Backoff, queue: RetryPolicy): void {
  const max = maxMs ?? queue.maxMs;
  if ((minMs ?? queue.minMs) <= max) return;
  throw invalid("job.backoff.min", `at most max (${max})`, minMs ?? queue.minMs);
}

/** The answer with the job that holds a dedupe key; undefined: the add makes one of its own. */
function knownBy(
  core: Core,
  queue: QueueState,
  key: string,
  spec: JobSpec,
  wanted: number,
  now: number,
): AddResult | undefined {
  dropPurged(core, core.dedupes.find(queue.serial, key, now), now);
  const held = core.dedupes.find(queue.serial, key, now);
  return held === undefined ? undefined : answerHeld(core, held, spec, wanted, now);
}

function dropped(queue: QueueState, tier: number): AddResult {
  queue.counters.dropped++;
  return { id: 0, dropped: true, tier };
}

/**
 * A purge that is under way may not have reached the job that holds a key: it has ended all the
 * same.
 */
function dropPurged(core: Core, held: HeldKey | undefined, now: number): void {
  const row = held === undefined ? 0 : core.ids.find(held.id);
  if (row !== 0 && isPurged(core, row)) endPurged(core, row, now);
}

/** Refuses a cost that can never pass. */
export function checkCost(set: GateSet, cost: number): void {
  const { gates } = set;
  for (let i = 0; i < gates.length; i++) {
    if (cost > gates[i]!.costMax()) throw tooDear(gates[i]!, cost);
  }
}

function tooDear(gate: GateLine, cost: number): Refusal {
  return new Refusal(
    "INVALID",
    `job.cost must be at most ${gate.costMax()}, the limit of gate ${gate.key}, got ${cost}`,
    { field: "job.cost", value: cost, gate: gate.key },
  );
}

/** Refuses a job whose gate opens later than it may wait. */
function checkWait(
  set: GateSet,
  spec: JobSpec,
  maxWaitMs: number,
  tier: number,
  now: number,
): void {
  for (const gate of set.gates) {
    const waitMs = gate.waitMs(spec.cost ?? 1, tier, now);
    if (waitMs <= maxWaitMs) continue;
    const message = waitTooLong({ gate: gate.key, waitMs, maxWaitMs });
    const details = { gate: gate.key, wait: waitMs, maxWait: maxWaitMs };
    throw new Refusal("WAIT_TOO_LONG", message, details);
  }
}

/**
 * What an add with a taken key does; undefined: it makes a job of its own and takes the key over.
 */
function answerHeld(
  core: Core,
  held: HeldKey,
  spec: JobSpec,
  wanted: number,
  now: number,
): AddResult | undefined {
  const row = core.ids.find(held.id);
  const state = row === 0 ? 0 : core.jobs.state(row);
  // One whose steps have begun is as good as leased: they are those of the payload that it has.
  const isStarted = row !== 0 && hasStarted(core, row);
  const isLive =
    state === WAITING_JOB || state === DELAYED_JOB || state === BLOCKED_JOB || isHeld(core, row);
  const isWaiting = isLive && !isStarted;
  const isRunning = state === LEASED_JOB || (isLive && isStarted);
  const tier = row === 0 ? 0 : core.tierOf(row);
  const mode = spec.dedupe!.mode;
  if (mode === "debounce" || mode === "replace" || mode === "keepLast") {
    const extra = row === 0 ? undefined : core.jobs.extra(row);
    if (mode === "keepLast" && (isRunning || extra?.followUp !== undefined)) {
      // Kept as it is now: tiers may be renamed, and the caller may change its object.
      // It belongs to no group and no tick: those may have ended long before the follow-up runs.
      // Nor does it wait for other jobs: they may be forgotten by then.
      const left = { group: undefined, schedule: undefined, dependencies: undefined };
      const followUp = { ...spec, priority: wanted, ...left };
      core.jobs.needExtra(row).followUp = followUp;
      core.tell({ at: now, fact: "follow-up", id: held.id, spec: followUp });
    } else if (!isWaiting) return undefined;
    else if (roomToReplace(core, core.queueOf(row), row, spec) === 0) replace(core, row, spec, now);
    else return dropped(core.queueOf(row), wanted);
  }
  return { id: held.id, duplicate: true, tier };
}

function replace(core: Core, row: number, spec: JobSpec, now: number): void {
  const until = spec.dedupe!.mode === "debounce" ? now + spec.delayMs! : undefined;
  const sizeBytes = spec.sizeBytes ?? 0;
  applyReplace(core, row, sizeBytes, spec.body, until, now);
  if (!core.tells) return;
  const fact = { at: now, fact: "replaced" as const, id: core.jobs.num(row, ID), sizeBytes };
  core.tell(
    until === undefined ? { ...fact, body: spec.body } : { ...fact, body: spec.body, until },
  );
  // A body is kept with the record of its job, so a new body needs the record again.
  core.tell({ at: now, fact: "moved", job: recordOf(core, row) });
}

/** Replaces the payload of a waiting or delayed job. A debounce also restarts its delay. */
export function applyReplace(
  core: Core,
  row: number,
  sizeBytes: number,
  body: unknown,
  until: number | undefined,
  now: number,
): void {
  const { jobs } = core;
  const isWaiting = jobs.state(row) === WAITING_JOB;
  if (isWaiting || isHeld(core, row)) core.queueOf(row).bytes += sizeBytes - jobs.int(row, SIZE);
  const isKept = jobs.state(row) === ENDED_JOB && !jobs.isNeeded(row);
  if (isKept) core.keptJobs.payloadBytes += sizeBytes - jobs.int(row, SIZE);
  core.bodyGone(row);
  jobs.setInt(row, SIZE, sizeBytes);
  jobs.bodies.set(row, body);
  if (until === undefined) return;
  if (isHeld(core, row)) {
    core.lastSeq++;
    jobs.setNum(row, TIME, until);
    return;
  }
  // Its delay begins when it waits for no other job any more.
  if (jobs.state(row) === BLOCKED_JOB) {
    jobs.setNum(row, TIME, until - now);
    return jobs.setNum(row, SEQ, ++core.lastSeq);
  }
  if (isWaiting) leaveStrand(core, row, now);
  else undelay(core, row);
  delay(core, row, until);
}

/**
 * How much work it is to add a job, in steps of about 3 µs at the worst. A call that adds jobs of
 * at most `ADD_STEPS_MAX` steps together ends within 5 ms. What is not a job counts as a plain one:
 * it is refused.
 */
export function addSteps(
  job:
    | { gates?: unknown; fairnessKey?: unknown; after?: unknown; dependencies?: unknown }
    | undefined,
): number {
  const gates = lengthOf(job?.gates);
  const levels = Array.isArray(job?.fairnessKey) ? job.fairnessKey.length : 1;
  const after = lengthOf(job?.after) + lengthOf(job?.dependencies);
  return 1 + STEPS_PER_PART * (gates + Math.max(0, levels - 1)) + Math.ceil(after / 8);
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
