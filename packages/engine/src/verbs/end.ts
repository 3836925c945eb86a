import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import { gateKeys } from "../facts/record.ts";
import { unblock } from "../flows/blocked.ts";
import { endNode } from "../flows/settle.ts";
import type { GateLine } from "../gates/gate-line.ts";
import { waitTooLong } from "../gates/max-waits.ts";
import * as jobFields from "../jobs/job-fields.ts";
import type { Extra } from "../jobs/job-table.ts";
import {
  forget,
  keepNewest,
  leaveStep,
  leaveStrand,
  undelay,
  unhold,
  unkeep,
} from "../jobs/moves.ts";
import { isHeld, leaveHeld } from "../jobs/ordered.ts";
import { deadlineOf } from "../jobs/wall.ts";
import { feedLadder } from "../lending/news.ts";
import { failureOf } from "../queries/fold-error.ts";
import { refuseRevival } from "../queues/capacity.ts";
import { leaveDead } from "../queues/dead-letters.ts";
import type { QueueState } from "../queues/queue-state.ts";
import * as nodeFields from "../ring/node-fields.ts";
import { forgetResult, forgetResults } from "../steps/notebook.ts";
import { isSuspended, resume } from "../steps/resume.ts";
import type { Ending } from "../types.ts";
import { addFollowUp, start } from "./begin.ts";
import { leaveOrder, startInOrder } from "./order.ts";

type EndedFact = Extract<Fact, { fact: "ended" }>;

const { GATES, NODE_INTS } = nodeFields;
const { ATTEMPTS, BLOCKED_JOB, COST, DELAYED_JOB, ENDED_JOB, ID, IN_STRAND } = jobFields;
const { JOB_INTS, LEASED_JOB, SEQ, TIME, WAITING_JOB } = jobFields;

export interface EndDetails {
  error?: string | undefined;
  stack?: string | undefined;
  result?: unknown;
  /** The result is kept as a body, and in the fact only for those who wait for the end. */
  isAside?: boolean;
  blame?: readonly string[];
  waited?: { gate: string; waitMs: number; maxWaitMs: number };
  /** In a replay: other jobs need it, which may not be known yet. */
  isNeeded?: boolean;
  /** Another fact ("queue-deleted") says it for all of its jobs at once. */
  isSilent?: boolean;
}

/** What there is to say of nearly every end. */
export const NOTHING: EndDetails = Object.freeze({});

/**
 * Ends a job that is off its strand, its timers and its lease. It is kept for a while, or
 * forgotten.
 */
export function endJob(
  core: Core,
  row: number,
  ending: Ending,
  now: number,
  details: EndDetails = NOTHING,
): void {
  const queue = core.queueOf(row);
  const id = core.jobs.num(row, ID);
  const node = core.jobs.node(row);
  const isNeeded = node !== 0 || details.isNeeded === true;
  count(queue, ending);
  if (core.tells && details.isSilent !== true) {
    const fact = factOf(id, queue.name, ending, details, now);
    if (isNeeded) fact.needed = true;
    core.tell(fact);
  }
  const had = core.jobs.extra(row);
  const followUp = had?.followUp;
  if (had !== undefined) leaveLists(core, row, had, ending, details);
  if (details !== NOTHING) keepDetails(core, row, details);
  core.jobs.setEnding(row, ending);
  if (core.jobs.isInOrder(row)) leaveOrder(core, row, now);
  if (had?.steps !== undefined) {
    leaveStep(core, row, had.steps, now);
    forgetResults(core, had.steps);
  }
  if (isNeeded) endInFlow(core, row, node, ending, now);
  else retain(core, row, queue, now);
  if (followUp !== undefined && !core.isReplaying && !queue.deleted)
    addFollowUp(core, queue, followUp, now);
}

/** The job leaves the dead, its dedupe key, its schedule and its group, as far as it has them. */
function leaveLists(
  core: Core,
  row: number,
  { origin }: Extra,
  ending: Ending,
  { error }: EndDetails,
): void {
  if (origin !== undefined) leaveDead(core, core.queueOf(row), row);
  releaseNames(core, row, ending, error);
}

function keepDetails(core: Core, row: number, details: EndDetails): void {
  const { error, stack, result, waited } = details;
  if (error === undefined && result === undefined && waited === undefined) return;
  const extra = core.jobs.needExtra(row);
  keepError(extra, error, stack);
  if (details.isAside !== true) extra.result = result;
  extra.waited = waited;
}

/** The last error, and its stack or none. A failure without a word keeps what was said before. */
export function keepError(
  extra: Extra,
  error: string | undefined,
  stack: string | undefined,
): void {
  if (error === undefined && stack === undefined) return;
  if (error !== undefined) {
    extra.error = error;
    extra.failure = failureOf(error);
  }
  extra.stack = stack;
}

function factOf(
  id: number,
  queue: string,
  ending: Ending,
  details: EndDetails,
  at: number,
): EndedFact {
  const { error, stack, result, blame, waited } = details;
  const fact: EndedFact = { at, fact: "ended", id, queue, ending, blame: blame ?? NOBODY };
  if (error !== undefined) fact.error = error;
  if (stack !== undefined) fact.stack = stack;
  if (result !== undefined) {
    if (details.isAside === true) fact.aside = result;
    else fact.result = result;
  }
  if (waited !== undefined) fact.waited = waited;
  return fact;
}

const NOBODY: readonly string[] = Object.freeze([]);

/** A job that dies does not end: it becomes a letter, and is counted where it does. */
function count(queue: QueueState, ending: Ending): void {
  const { counters } = queue;
  if (ending === "finished") counters.finished++;
  else if (ending === "cancelled") counters.cancelled++;
  else if (ending === "expired") counters.expired++;
  else counters.failed++;
}

/** Frees the dedupe key, tells the schedule and the group; the job has an extra. */
export function releaseNames(
  core: Core,
  row: number,
  ending: Ending,
  error: string | undefined,
): void {
  const extra = core.jobs.extra(row)!;
  const id = core.jobs.num(row, ID);
  if (extra.schedule !== undefined) {
    core.schedules.runEnded(extra.schedule, id, ending, error ?? extra.error);
  }
  if (extra.dedupe !== 0) core.dedupes.jobEnded(extra.dedupe, id, ending);
  extra.dedupe = 0;
  extra.followUp = undefined;
  if (extra.group === 0) return;
  const group = core.groups.end(extra.group, id, ending);
  extra.group = 0;
  if (group !== undefined) core.tell({ at: core.now, fact: "group-ended", name: group.name });
}

/** Other jobs wait for it, or it waited for others: it is held until the last of them has ended. */
function endInFlow(core: Core, row: number, node: number, ending: Ending, now: number): void {
  const { jobs } = core;
  const isDeleted = core.queueOf(row).deleted;
  jobs.setState(row, ENDED_JOB);
  jobs.setNeeded(row, !isDeleted);
  if (node === 0) core.flows.bare.push(row);
  else endNode(core, node, ending);
  if (isDeleted) return forget(core, row);
  jobs.setNum(row, TIME, now);
  jobs.setNum(row, SEQ, ++core.lastSeq);
}

function retain(core: Core, row: number, queue: QueueState, now: number): void {
  if (queue.deleted) return forget(core, row);
  core.lastSeq++;
  const { jobs, ms } = queue.config.results;
  if (jobs === 0 || ms === 0) return forget(core, row);
  keepNewest(core, row, queue, now);
  trimKept(core, queue);
}

/** A job was kept: those that have no room any more are forgotten. */
export function trimKept(core: Core, queue: QueueState): void {
  if (queue.kept > queue.config.results.jobs) forgetKept(core, queue.keptHead, queue);
  if (core.keptJobs.isOver) trimBudget(core);
}

function trimBudget(core: Core): void {
  core.keptJobs.trim(core, (row) => forgetKept(core, row, core.queueOf(row)));
}

export function forgetKept(core: Core, row: number, queue: QueueState): void {
  unkeep(core, row, queue);
  forget(core, row);
}

/** A job of theirs succeeded: the ladders of its gates step back. */
export function reportSuccess(core: Core, row: number, now: number): void {
  const strand = core.jobs.i[row * JOB_INTS + IN_STRAND]!;
  const set = core.rings.nodes.i[strand * NODE_INTS + GATES]!;
  if (set === 0) return;
  const { gates } = core.gates.set(set);
  for (let i = 0; i < gates.length; i++) {
    if (gates[i]!.config?.ladder !== undefined) feedLadder(core, gates[i]!, true, now);
  }
}

/** Takes a live job off wherever it is; answers false when it has ended. */
export function takeOff(core: Core, row: number, now: number): boolean {
  const state = core.jobs.state(row);
  if (state === WAITING_JOB) leaveStrand(core, row, now);
  else if (state === DELAYED_JOB) undelay(core, row);
  else if (state === LEASED_JOB) unhold(core, row, now);
  else if (isHeld(core, row)) leaveHeld(core, row);
  else if (state === BLOCKED_JOB) unblock(core, row);
  else return false;
  return true;
}

/** Whether a job is one that a purge under way has yet to reach. */
export function isPurged(core: Core, row: number): boolean {
  const upTo = core.queueOf(row).purgeUpTo;
  if (upTo === 0 || core.jobs.num(row, SEQ) > upTo) return false;
  const state = core.jobs.state(row);
  if (state === WAITING_JOB || state === DELAYED_JOB) return true;
  return state === BLOCKED_JOB || isHeld(core, row);
}

/** Ends a job that a purge found waiting or delayed: cancelled, unless its deadline had passed. */
export function endPurged(core: Core, row: number, now: number): void {
  const deadline = deadlineOf(core, row);
  const { purgeAt } = core.queueOf(row);
  takeOff(core, row, now);
  endJob(core, row, deadline <= purgeAt ? "expired" : "cancelled", now);
}

/** Cancels a job wherever it is; false when it had ended. */
export function cancel(core: Core, row: number, now: number): boolean {
  if (!takeOff(core, row, now)) return false;
  endJob(core, row, "cancelled", now);
  return true;
}

/** Takes an ended job out of the list of those that are kept, unless it is held for others. */
export function leaveEnded(core: Core, row: number, queue: QueueState): void {
  if (core.jobs.isNeeded(row)) core.jobs.setNeeded(row, false);
  else unkeep(core, row, queue);
}

/** Runs an ended job that is still kept again, or a delayed one at once. */
export function revive(core: Core, row: number, now: number): void {
  const state = core.jobs.state(row);
  const id = core.jobs.num(row, ID);
  if (state !== ENDED_JOB && state !== DELAYED_JOB) throw isBusy(core, row);
  refuseForgotten(core, row);
  refuseRevival(core, core.queueOf(row), row);
  core.tell({ at: now, fact: "revived", id });
  applyRevive(core, row, now);
}

/** A job that cannot be retried: it waits or runs already. */
export function isBusy(core: Core, row: number): Refusal {
  const id = core.jobs.num(row, ID);
  const now = core.jobs.state(row);
  const state =
    now === LEASED_JOB ? "running" : now === BLOCKED_JOB ? "waiting for other jobs" : "waiting";
  return new Refusal(
    "CONFLICT",
    `job ${id} is ${state}: only ended and delayed jobs can be run again`,
    { field: "id", value: id },
  );
}

/** An ended job may be one of those that a lowered limit is about to forget. */
export function refuseForgotten(core: Core, row: number): void {
  const queue = core.queueOf(row);
  if (core.jobs.state(row) !== ENDED_JOB || queue.kept <= queue.config.results.jobs) return;
  if (core.jobs.isNeeded(row)) return;
  const id = core.jobs.num(row, ID);
  const message = `queue ${queue.name} is removing old jobs; try again with job ${id}`;
  throw new Refusal("CONFLICT", message, { field: "id", value: id, retryAfterMs: 1 });
}

export function applyRevive(core: Core, row: number, now: number): void {
  if (core.jobs.state(row) === DELAYED_JOB) {
    undelay(core, row);
    if (isSuspended(core, row)) resume(core, row, now);
    else start(core, row, now);
  } else {
    leaveEnded(core, row, core.queueOf(row));
    core.jobs.setEnding(row, undefined);
    const extra = core.jobs.extra(row);
    if (extra !== undefined) {
      extra.deadline = extra.wallDeadline = Number.POSITIVE_INFINITY;
      // It starts over: the results are gone.
      if (extra.steps !== undefined) forgetResult(core, extra.steps);
      extra.steps = undefined;
    }
    core.jobs.setInt(row, ATTEMPTS, core.jobs.int(row, ATTEMPTS) & ~0xffff);
    core.jobs.resetDeliveries(row);
    core.jobs.nextGeneration(row);
    startInOrder(core, row, now);
  }
}

/** Ends a waiting job whose gate opens too late for it, judged by the job as it is now. */
export function endWait(core: Core, row: number, gate: GateLine): void {
  const maxWaitMs = core.jobs.extra(row)?.maxWaitMs ?? Number.POSITIVE_INFINITY;
  // It may have left the gate since, to the dead letter queue say.
  if (core.jobs.state(row) !== WAITING_JOB || !gateKeys(core, row).includes(gate.key)) return;
  const waitMs = gate.waitMs(core.jobs.int(row, COST), core.tierOf(row), core.now);
  if (waitMs <= maxWaitMs) return;
  leaveStrand(core, row, core.now);
  const waited = { gate: gate.key, waitMs, maxWaitMs };
  endJob(core, row, "wait-too-long", core.now, { error: waitTooLong(waited), waited });
}
