import type { Core } from "../core.ts";
import { gateCount } from "../facts/record.ts";
import { applyUnblock, cancelFlow, oldestFlow, stepFlows } from "../flows/go-on.ts";
import { BLOCKED_JOB, ID, IN_STRAND, LEASE, LEASED_JOB, TIME } from "../jobs/job-fields.ts";
import {
  changeStrand,
  delay,
  enterStrand,
  leaveStrand,
  note,
  setLater,
  undelay,
} from "../jobs/moves.ts";
import { isHeld } from "../jobs/ordered.ts";
import { deadlineOf, retime } from "../jobs/wall.ts";
import { hasRoom } from "../queues/capacity.ts";
import { isLetter } from "../queues/dead-letters.ts";
import type { QueueState } from "../queues/queue-state.ts";
import { GATES, OWN } from "../ring/node-fields.ts";
import { isSuspended, resume } from "../steps/resume.ts";
import { start } from "./begin.ts";
import { endJob, endPurged, forgetKept, isPurged, takeOff } from "./end.ts";
import { leaseOver } from "./fail.ts";
import { stepPurge } from "./manage.ts";
import { leaveOrder, release, startInOrder } from "./order.ts";

/**
 * Things that have fallen due and are done in one call, each gate of a job counted as one more; the
 * next call does the rest.
 */
const DUE_PER_CALL = 1000;

/** What one step of a chore counts for among them: two of them fill a call. */
const CHORE = 500;

/** Does what has fallen due: delays, leases, deadlines, promotions, gates, kept jobs, chores. */
export function tick(core: Core, now: number): void {
  let left = DUE_PER_CALL;
  while (left > 0 && core.timers.peekTime() <= now) {
    const row = core.timers.peek();
    left -= workOf(core, row);
    if (core.queueOf(row).deleted) drop(core, row, now);
    else if (core.jobs.state(row) === LEASED_JOB) leaseOver(core, row, now);
    else fallDue(core, row, now);
  }
  while (left > 0 && core.later.peekTime() <= now) {
    const row = core.later.peek();
    left -= workOf(core, row);
    if (core.queueOf(row).deleted) drop(core, row, now);
    else laterDue(core, row, now);
  }
  while (left > 0 && core.kept.peekTime() <= now) {
    left -= forgetOld(core, core.queues[core.kept.peek() - 1]!, left, now);
  }
  while (left > 0 && core.dedupes.windows.peekTime() <= now) {
    left--;
    core.dedupes.expire();
  }
  while (left > 0 && core.gates.wakes.peekTime() <= now) {
    left--;
    core.lines.look(core.gates.at(core.gates.wakes.pop()));
  }
  while (left > 0 && flowsEndAt(core) <= now) {
    left--;
    cancelFlow(core, oldestFlow(core)!, now);
  }
  if (left > 0 && isLettingGo(core)) left -= stepFlows(core, left, now);
  while (left > 0 && core.chores.length > 0) {
    left -= CHORE;
    if (core.chores[0]!(now)) core.chores.shift();
  }
  while (left > 0 && core.purging.length > 0) {
    left -= CHORE;
    stepPurge(core, now);
  }
  core.lines.settle(now);
  core.gates.sweep(now);
}

/** When the oldest flow that is not sealed is cancelled. */
function flowsEndAt(core: Core): number {
  if (core.flows.open.size === 0) return Number.POSITIVE_INFINITY;
  return oldestFlow(core)?.until ?? Number.POSITIVE_INFINITY;
}

/** Whether jobs that wait for others have yet to learn how those ended. */
function isLettingGo({ flows }: Core): boolean {
  const { settling, letting, cancelling, due, bare } = flows;
  return settling.size + letting.size + cancelling.size + due.size + bare.size > 0;
}

/** What one job counts for among the things that have fallen due. */
function workOf(core: Core, row: number): number {
  return 1 + gateCount(core, core.jobs.int(row, IN_STRAND));
}

/** A job of a deleted queue that the deletion has yet to reach. */
function drop(core: Core, row: number, now: number): void {
  takeOff(core, row, now);
  endJob(core, row, "cancelled", now, { isSilent: true });
}

/** Queues that cannot work any more have nothing to dispatch, whatever is ready there. */
function forgetUnable(core: Core): void {
  while (core.runnable.length > 0 && !core.runnable[0]!.canWork()) {
    core.runnable.shift()!.runnable = false;
  }
}

/** When `tick` or `dispatch` has something to do. */
export function nextWake(core: Core, now: number): number {
  forgetUnable(core);
  if (core.chores.length > 0 || core.purging.length > 0) return now;
  if (core.runnable.length > 0 || isLettingGo(core)) return now;
  const at = Math.min(
    flowsEndAt(core),
    core.timers.peekTime(),
    core.later.peekTime(),
    core.kept.peekTime(),
    core.gates.wakes.peekTime(),
    core.dedupes.windows.peekTime(),
    core.schedules.timers.peekTime(),
  );
  return Math.max(at, now);
}

/**
 * A delayed job's time has come. On a full queue it is put off, never lost; a retry is never put
 * off.
 */
function fallDue(core: Core, row: number, now: number): void {
  const queue = core.queueOf(row);
  if (isPurged(core, row)) return endPurged(core, row, now);
  if (retime(core, row)) return;
  const id = core.jobs.num(row, ID);
  if (core.jobs.int(row, LEASE) === 0 && !hasRoom(core, queue, row)) {
    const until = now + queue.config.fullRetryMs;
    core.tell({ at: now, fact: "due", id, until });
    return applyDue(core, row, now, until);
  }
  core.tell({ at: now, fact: "due", id });
  applyDue(core, row, now, undefined);
}

export function applyDue(core: Core, row: number, now: number, until: number | undefined): void {
  if (isHeld(core, row)) return release(core, row, until, now);
  if (core.jobs.state(row) === BLOCKED_JOB) return applyUnblock(core, row, now, until);
  undelay(core, row);
  if (until !== undefined) delay(core, row, until);
  else if (isSuspended(core, row)) resume(core, row, now);
  else if (isLetter(core, row)) enterStrand(core, row, now, true);
  else start(core, row, now);
}

/** Forgets kept jobs whose time is over, at most `most`; answers how much work it was. */
function forgetOld(core: Core, queue: QueueState, most: number, now: number): number {
  const { ms } = queue.config.results;
  let done = 1;
  while (queue.keptHead !== 0 && core.jobs.num(queue.keptHead, TIME) + ms <= now) {
    if (done++ > most) return done;
    forgetKept(core, queue.keptHead, queue);
  }
  if (queue.keptHead === 0) core.kept.remove(queue.index + 1);
  else core.kept.move(queue.index + 1, core.jobs.num(queue.keptHead, TIME) + ms);
  return done;
}

function laterDue(core: Core, row: number, now: number): void {
  if (isPurged(core, row)) return endPurged(core, row, now);
  if (retime(core, row)) return;
  const deadline = deadlineOf(core, row);
  const isPromoted = core.queueOf(row).config.promoteAfterMs !== undefined && !isHeld(core, row);
  if (deadline > now && !isPromoted) {
    // Promotion was switched off meanwhile.
    return setLater(core, row, core.queueOf(row));
  }
  if (deadline > now) {
    const tier = core.tierOf(row) - 1;
    core.tell({ at: now, fact: "promoted", id: core.jobs.num(row, ID), tier });
    return promote(core, row, tier, now);
  }
  takeOff(core, row, now);
  endJob(core, row, "expired", now);
}

/** A job that has waited long goes to the back of its lane in a more urgent tier. */
export function promote(core: Core, row: number, tier: number, now: number): void {
  const { lanes } = core;
  const queue = core.queueOf(row);
  const old = core.laneOf(row);
  const set = core.gates.set(lanes.get(core.jobs.int(row, IN_STRAND), GATES));
  leaveStrand(core, row, now);
  leaveOrder(core, row, now);
  const lane = lanes.laneOf(queue.tiers[tier]!, lanes.keyOf(old));
  const own = lanes.get(old, OWN);
  if (own !== 0) lanes.setWeight(lane, own);
  changeStrand(core, row, core.strandOf(lane, set));
  note(core, row, "promoted", now, queue.config.tiers[tier]!.name);
  startInOrder(core, row, now);
}
