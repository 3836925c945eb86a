import type { Core } from "../core.ts";
import { forgetIdle, type QueueState, type WorkerState } from "../queues/queue-state.ts";
import * as nodeFields from "../ring/node-fields.ts";
import { forgetResult } from "../steps/notebook.ts";
import type { Notebook } from "../steps/step-types.ts";
import type { HistoryEntry } from "../types.ts";
import * as jobFields from "./job-fields.ts";

const { ADDED, COST, DELAYED_JOB, DISPATCHED, ENDED_JOB, ID, IN_STRAND, JOB_INTS } = jobFields;
const {
  HAS_EXTRA,
  HELD_JOB,
  JOB_NEXT,
  JOB_PREV,
  LEASE,
  LEASED_JOB,
  META,
  POS,
  POS2,
  SEQ,
  SIZE,
  TIME,
  WAITING_JOB,
  WORKER,
} = jobFields;
const { AT_TIER, COUNT, GATES, HEAD, IN_LANE, LEASED, NODE_INTS, QUEUE, TAIL } = nodeFields;
const { WAITING } = nodeFields;

/**
 * The moves of a job between its states: into and out of its strand, the timers, a lease, the list
 * of kept jobs. Each keeps the books that belong to the state, and nothing else; what a move means
 * is decided by the verbs. These are the hottest lines of the engine: a row is addressed once per
 * function and its fields are read from there, which is a third faster than an accessor a field.
 */

/** Entries of a job's history that are kept; the oldest but the first go. */
const HISTORY_MAX = 32;

/** Jobs passed over to put one that is given back into its place. */
const GIVEN_BACK_WALK = 1000;

/**
 * The job waits from now on, at the back of its strand or, given back, at the front. One that
 * waited before a restart has its place in the order already, `seq`.
 */
export function enterStrand(core: Core, row: number, now: number, atFront = false, seq = 0): void {
  const { jobs } = core;
  const ints = jobs.i;
  const at = row * JOB_INTS;
  const doubles = jobs.f;
  const meta = ints[at + META]!;
  const queue = core.queues[meta >>> 8]!;
  ints[at + META] = (meta & ~15) | WAITING_JOB;
  doubles[(at >>> 1) + TIME] = now;
  const place = seq === 0 ? ++core.lastSeq : seq;
  // A job that comes back while its queue is purged was not waiting when the purge was called for,
  // unless it was held.
  const toFront = atFront && (queue.purgeUpTo === 0 || (meta & 15) === HELD_JOB);
  if (!toFront) doubles[(at >>> 1) + SEQ] = place;
  const strand = ints[at + IN_STRAND]!;
  const isHead =
    toFront || seq !== 0 ? putBack(core, strand, row, toFront) : append(core, strand, row);
  queue.waiting++;
  queue.waitingAt[(meta >>> 4) & 15]!++;
  queue.bytes += ints[at + SIZE]!;
  const set = core.rings.nodes.i[strand * NODE_INTS + GATES]!;
  if (set !== 0) core.gates.addWanted(set, ints[at + COST]!);
  const hasExtra = (ints[at + HAS_EXTRA]! & 1) !== 0;
  if (hasExtra || queue.config.promoteAfterMs !== undefined) setLater(core, row, queue);
  if (isHead) core.lines.headChanged(strand, now);
}

/** Puts a job that was in its strand before where it belongs; answers whether it is the head. */
function putBack(core: Core, strand: number, row: number, toFront: boolean): boolean {
  if (toFront) return insert(core, strand, row, placeGivenBack(core, strand, row));
  return insert(core, strand, row, placeInOrder(core, strand, core.jobs.num(row, SEQ)));
}

/** Puts a job at the back of its strand; answers whether it is the head. */
function append(core: Core, strand: number, row: number): boolean {
  const ints = core.rings.nodes.i;
  const f = strand * NODE_INTS;
  const tail = ints[f + TAIL]!;
  const own = core.jobs.i;
  const at = row * JOB_INTS;
  own[at + JOB_NEXT] = 0;
  own[at + JOB_PREV] = tail;
  if (tail === 0) ints[f + HEAD] = row;
  else own[tail * JOB_INTS + JOB_NEXT] = row;
  ints[f + TAIL] = row;
  ints[f + COUNT]!++;
  const l = ints[f + IN_LANE]! * NODE_INTS;
  if (ints[l + WAITING]!++ === 0) core.queues[ints[l + QUEUE]!]!.lanes++;
  return tail === 0;
}

export function countWaiting(core: Core, lane: number): void {
  const ints = core.rings.nodes.i;
  const l = lane * NODE_INTS;
  if (ints[l + WAITING]!++ === 0) core.queues[ints[l + QUEUE]!]!.lanes++;
}

export function uncountWaiting(core: Core, lane: number): void {
  const ints = core.rings.nodes.i;
  const l = lane * NODE_INTS;
  if (--ints[l + WAITING]! === 0) core.queues[ints[l + QUEUE]!]!.lanes--;
}

/**
 * Behind whom a job given back goes: at the front, but for those that were given back before it and
 * are older. A worker gives back what it holds in order, so the walk is short; it is cut off all
 * the same.
 */
function placeGivenBack(core: Core, strand: number, row: number): number {
  const { jobs, lanes } = core;
  const seq = jobs.num(row, SEQ);
  let prev = 0;
  let next = lanes.get(strand, HEAD);
  for (let i = 0; i < GIVEN_BACK_WALK && next !== 0 && jobs.num(next, SEQ) < seq; i++) {
    prev = next;
    next = jobs.int(next, JOB_NEXT);
  }
  return prev;
}

/**
 * The job behind which to put one whose record came again long after its add: younger jobs may
 * already be in the strand. Such jobs come in runs, oldest first, so the walk continues where the
 * last one ended.
 */
function placeInOrder(core: Core, strand: number, seq: number): number {
  const { jobs, lanes } = core;
  const tail = lanes.get(strand, TAIL);
  if (tail === 0 || jobs.num(tail, SEQ) < seq) return tail;
  const last = core.lastPlaced.get(strand) ?? 0;
  const isThere = jobs.state(last) === WAITING_JOB && jobs.int(last, IN_STRAND) === strand;
  let prev = isThere && jobs.num(last, SEQ) < seq ? last : 0;
  let next = prev === 0 ? lanes.get(strand, HEAD) : jobs.int(prev, JOB_NEXT);
  while (next !== 0 && jobs.num(next, SEQ) < seq) {
    prev = next;
    next = jobs.int(next, JOB_NEXT);
  }
  core.lastPlaced.set(strand, prev);
  return prev;
}

/** Puts a job behind another, 0: at the front; answers whether it is the head. */
function insert(core: Core, strand: number, row: number, prev: number): boolean {
  const { jobs, lanes } = core;
  const next = prev === 0 ? lanes.get(strand, HEAD) : jobs.int(prev, JOB_NEXT);
  jobs.setInt(row, JOB_PREV, prev);
  jobs.setInt(row, JOB_NEXT, next);
  if (prev === 0) lanes.set(strand, HEAD, row);
  else jobs.setInt(prev, JOB_NEXT, row);
  if (next === 0) lanes.set(strand, TAIL, row);
  else jobs.setInt(next, JOB_PREV, row);
  lanes.set(strand, COUNT, lanes.get(strand, COUNT) + 1);
  countWaiting(core, lanes.get(strand, IN_LANE));
  return prev === 0;
}

/** Takes a waiting job off its strand; answers whether it was the head. */
export function unlink(core: Core, row: number): boolean {
  const ints = core.jobs.i;
  const at = row * JOB_INTS;
  const nodes = core.rings.nodes.i;
  const f = ints[at + IN_STRAND]! * NODE_INTS;
  const isHead = nodes[f + HEAD] === row;
  const next = ints[at + JOB_NEXT]!;
  const prev = isHead ? 0 : ints[at + JOB_PREV]!;
  if (isHead) nodes[f + HEAD] = next;
  else ints[prev * JOB_INTS + JOB_NEXT] = next;
  if (next === 0) nodes[f + TAIL] = prev;
  else if (!isHead) ints[next * JOB_INTS + JOB_PREV] = prev;
  ints[at + JOB_NEXT] = 0;
  ints[at + JOB_PREV] = 0;
  nodes[f + COUNT]!--;
  const meta = ints[at + META]!;
  const queue = core.queues[meta >>> 8]!;
  const set = nodes[f + GATES]!;
  if (set !== 0) core.gates.addWanted(set, -ints[at + COST]!);
  queue.waiting--;
  queue.waitingAt[(meta >>> 4) & 15]!--;
  queue.bytes -= ints[at + SIZE]!;
  if (--nodes[nodes[f + IN_LANE]! * NODE_INTS + WAITING]! === 0) queue.lanes--;
  if (ints[at + POS2] !== 0) core.later.remove(row);
  return isHead;
}

/** Removes a waiting job from its strand, wherever it is in there. */
export function leaveStrand(core: Core, row: number, now: number): void {
  const strand = core.jobs.int(row, IN_STRAND);
  if (unlink(core, row)) core.lines.headChanged(strand, now);
}

/** The job waits for a time, not for its turn. */
export function delay(core: Core, row: number, until: number, seq = 0): void {
  const { jobs } = core;
  jobs.setState(row, DELAYED_JOB);
  jobs.setNum(row, TIME, until);
  jobs.setNum(row, SEQ, seq === 0 ? ++core.lastSeq : seq);
  jobs.setInt(row, POS, 0);
  // One that waits for a signal may do so without an end.
  if (until !== Number.POSITIVE_INFINITY) core.timers.add(row, until, jobs.num(row, ID));
  const queue = core.queueOf(row);
  queue.delayed++;
  setLater(core, row, queue);
}

/**
 * A letter that failed, or a job that is suspended, is delayed, or waits, in the place that it had.
 * One that returns while its queue is purged was not waiting when the purge was called for.
 */
export function putBackInPlace(core: Core, row: number, until: number, now: number): void {
  if (until <= now) return enterStrand(core, row, now, true);
  const seq = ++core.lastSeq;
  const isPurging = core.queueOf(row).purgeUpTo !== 0;
  delay(core, row, until, isPurging ? seq : core.jobs.num(row, SEQ));
}

export function undelay(core: Core, row: number): void {
  if (core.timers.has(row)) core.timers.remove(row);
  const extra = core.jobs.extra(row);
  if (extra !== undefined) extra.runAt = Number.POSITIVE_INFINITY;
  const queue = core.queueOf(row);
  queue.delayed--;
  if (core.later.has(row)) core.later.remove(row);
}

/** The second timer of a waiting or delayed job: its deadline, or its promotion. */
export function setLater(core: Core, row: number, queue: QueueState): void {
  const { jobs } = core;
  let at = jobs.extra(row)?.deadline ?? Number.POSITIVE_INFINITY;
  const after = queue.config.promoteAfterMs;
  if (after !== undefined && jobs.state(row) === WAITING_JOB && jobs.tier(row) > 0) {
    at = Math.min(at, jobs.num(row, TIME) + after);
  }
  if (core.later.has(row)) core.later.remove(row);
  if (at === Number.POSITIVE_INFINITY) return;
  // Jobs of one strand that are promoted in one moment keep their order.
  core.later.add(row, at, jobs.num(row, SEQ));
}

/** The job, off its strand, is leased by a worker until a time. */
export function hold(core: Core, row: number, worker: WorkerState, until: number): void {
  const { jobs } = core;
  const ints = jobs.i;
  const at = row * JOB_INTS;
  const doubles = jobs.f;
  const meta = ints[at + META]!;
  ints[at + META] = (meta & ~15) | LEASED_JOB;
  doubles[(at >>> 1) + TIME] = until;
  ints[at + POS] = 0;
  ints[at + WORKER] = worker.index;
  core.timers.add(row, until, ++core.lastTie);
  const queue = core.queues[meta >>> 8]!;
  queue.leased++;
  queue.leasedAt[(meta >>> 4) & 15]!++;
  const nodes = core.rings.nodes.i;
  const f = ints[at + IN_STRAND]! * NODE_INTS;
  nodes[nodes[f + IN_LANE]! * NODE_INTS + LEASED]!++;
  worker.leased++;
  const set = nodes[f + GATES]!;
  if (set !== 0) core.gates.noteHolder(set, row);
}

/** Takes the lease off a job: its gates have a place more. */
export function unhold(core: Core, row: number, now: number): void {
  const { jobs } = core;
  core.timers.remove(row);
  const ints = jobs.i;
  const at = row * JOB_INTS;
  const worker = core.workers[ints[at + WORKER]!]!;
  worker.leased--;
  ints[at + WORKER] = 0;
  const meta = ints[at + META]!;
  const queue = core.queues[meta >>> 8]!;
  queue.leased--;
  queue.leasedAt[(meta >>> 4) & 15]!--;
  if (worker.leased === 0) forgetIdle(core, queue, worker);
  const nodes = core.rings.nodes.i;
  const f = ints[at + IN_STRAND]! * NODE_INTS;
  nodes[nodes[f + IN_LANE]! * NODE_INTS + LEASED]!--;
  const set = nodes[f + GATES]!;
  if (set !== 0) core.lines.release(core.gates.set(set), now);
  if (queue.leased === queue.config.capacity.running - 1) workChanged(core, queue);
  if ((ints[at + HAS_EXTRA]! & 1) === 0) return;
  const extra = jobs.extras.get(row)!;
  extra.worker = worker.name;
  if (extra.steps !== undefined) leaveStep(core, row, extra.steps, now);
}

/** A job that is on no list waits for no step any more, and has its own gates and cost again. */
export function leaveStep(core: Core, row: number, book: Notebook, now: number): void {
  book.pending = undefined;
  restoreBase(core, row, now);
}

/** The job has its own gates and cost again; the permits of its step were given back. */
export function restoreBase(core: Core, row: number, now: number): void {
  const book = core.jobs.extra(row)?.steps;
  if (book?.base === undefined) return;
  const { gates, cost } = book.base;
  book.base = undefined;
  core.jobs.setInt(row, COST, cost);
  changeStrand(core, row, core.strandOf(core.laneOf(row), core.gates.setOf(gates, now)));
}

/** A queue may have got, or lost, the means to work. */
export function workChanged(core: Core, queue: QueueState): void {
  core.lines.workChanged(queue);
  core.wake(queue, 0);
}

/** The job has ended now and is kept for a while, the oldest of its queue first to go. */
export function keepNewest(core: Core, row: number, queue: QueueState, now: number): void {
  const seq = core.lastSeq;
  const prev = queue.keptTail;
  const ints = core.jobs.i;
  const doubles = core.jobs.f;
  const at = row * JOB_INTS;
  const isLast = prev !== 0 && doubles[prev * (JOB_INTS / 2) + SEQ]! < seq;
  if (!isLast) return keep(core, row, queue, now, seq);
  ints[at + META] = (ints[at + META]! & ~15) | ENDED_JOB;
  doubles[(at >>> 1) + TIME] = now;
  doubles[(at >>> 1) + SEQ] = seq;
  ints[at + JOB_NEXT] = 0;
  ints[at + JOB_PREV] = prev;
  ints[prev * JOB_INTS + JOB_NEXT] = row;
  queue.keptTail = row;
  queue.lastKept = row;
  queue.kept++;
  core.keptJobs.count(core, row, 1);
}

/** The same for a job that may have ended before others that are kept, as records of a log do. */
export function keep(core: Core, row: number, queue: QueueState, now: number, seq: number): void {
  const { jobs } = core;
  const ints = jobs.i;
  const at = row * JOB_INTS;
  ints[at + META] = (ints[at + META]! & ~15) | ENDED_JOB;
  jobs.f[(at >>> 1) + TIME] = now;
  jobs.f[(at >>> 1) + SEQ] = seq;
  const prev = placeKept(core, queue, seq);
  const next = prev === 0 ? queue.keptHead : ints[prev * JOB_INTS + JOB_NEXT]!;
  ints[at + JOB_NEXT] = next;
  ints[at + JOB_PREV] = prev;
  if (prev === 0) queue.keptHead = row;
  else jobs.setInt(prev, JOB_NEXT, row);
  if (next === 0) queue.keptTail = row;
  else jobs.setInt(next, JOB_PREV, row);
  queue.lastKept = row;
  queue.kept++;
  core.keptJobs.entered(core, row, queue);
  const dueAt = now + queue.config.results.ms;
  if (!core.kept.has(queue.index + 1)) core.kept.add(queue.index + 1, dueAt, queue.serial);
  // After a restart the record of an older job may come later. It is the first to be forgotten.
  else if (prev === 0) core.kept.move(queue.index + 1, dueAt);
}

/** Where to keep an ended job: behind the last, unless its record came again after a restart. */
function placeKept(core: Core, queue: QueueState, seq: number): number {
  const { jobs } = core;
  const tail = queue.keptTail;
  if (tail === 0 || jobs.num(tail, SEQ) < seq) return tail;
  const last = queue.lastKept;
  const isThere = jobs.state(last) === ENDED_JOB && jobs.queue(last) === queue.index;
  let prev = isThere && jobs.num(last, SEQ) < seq ? last : 0;
  let next = prev === 0 ? queue.keptHead : jobs.int(prev, JOB_NEXT);
  while (next !== 0 && jobs.num(next, SEQ) < seq) {
    prev = next;
    next = jobs.int(next, JOB_NEXT);
  }
  return prev;
}

export function unkeep(core: Core, row: number, queue: QueueState): void {
  const ints = core.jobs.i;
  const at = row * JOB_INTS;
  const next = ints[at + JOB_NEXT]!;
  const prev = ints[at + JOB_PREV]!;
  if (prev === 0) queue.keptHead = next;
  else ints[prev * JOB_INTS + JOB_NEXT] = next;
  if (next === 0) queue.keptTail = prev;
  else ints[next * JOB_INTS + JOB_PREV] = prev;
  // The next to go left the cache long ago. Two writes, which nothing waits for, bring both ends of
  // its row back before they are read: an ended job has no second timer, and row 0 is no job.
  ints[next * JOB_INTS + POS2] = 0;
  ints[at + JOB_NEXT] = 0;
  ints[at + JOB_PREV] = 0;
  queue.kept--;
  core.keptJobs.left(core, row, queue);
}

/** The job, off every list, is forgotten. */
export function forget(core: Core, row: number): void {
  const { jobs } = core;
  const strand = jobs.i[row * JOB_INTS + IN_STRAND]!;
  core.bodyGone(row);
  if (jobs.hasMore(row)) forgetMore(core, row);
  core.ids.remove(row);
  jobs.discard(row);
  core.lanes.unuse(strand);
}

/** What only jobs with steps or dependencies have. */
function forgetMore(core: Core, row: number): void {
  const steps = core.jobs.extra(row)?.steps;
  if (steps !== undefined) forgetResult(core, steps);
  if (core.jobs.node(row) !== 0) core.flows.unbind(row, core.jobs.num(row, ID));
}

/** Makes a job belong to another strand; the one it leaves may be gone afterwards. */
export function changeStrand(core: Core, row: number, strand: number): void {
  const old = core.jobs.int(row, IN_STRAND);
  const lane = core.lanes.get(strand, IN_LANE);
  core.lanes.use(strand);
  core.jobs.setPlace(row, strand, core.lanes.get(lane, QUEUE), core.lanes.get(lane, AT_TIER));
  core.lanes.unuse(old);
}

/** When a job went out last, as its history tells it. */
export function dispatchOf(core: Core, row: number): HistoryEntry {
  const { jobs } = core;
  const at = jobs.num(row, ADDED) + jobs.int(row, DISPATCHED);
  const isHeld = jobs.state(row) === LEASED_JOB;
  const worker = isHeld ? core.workers[jobs.int(row, WORKER)]?.name : jobs.extra(row)?.worker;
  const by = worker === undefined || worker === "" ? "" : ` by ${worker}`;
  return { at, event: "dispatched", detail: `lease ${jobs.int(row, LEASE)}${by}` };
}

/** Notes an event that a job's row does not show, and the dispatch that it ends. */
export function note(
  core: Core,
  row: number,
  event: HistoryEntry["event"],
  at: number,
  detail?: string,
): void {
  const extra = core.jobs.needExtra(row);
  extra.history ??= [{ at: core.jobs.num(row, ADDED), event: "added" }];
  if (core.jobs.state(row) === LEASED_JOB) extra.history.push(dispatchOf(core, row));
  extra.history.push(detail === undefined ? { at, event } : { at, event, detail });
  const over = extra.history.length - HISTORY_MAX;
  if (over > 0) extra.history.splice(1, over);
}
