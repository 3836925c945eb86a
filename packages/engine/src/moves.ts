import type { Core } from "./core.ts";
import {
  ADDED,
  DELAYED_JOB,
  ENDED_JOB,
  ID,
  IN_FLOW,
  JOB_NEXT,
  JOB_PREV,
  LEASED_JOB,
  POS,
  SEQ,
  SIZE,
  STATE,
  TIME,
  WAITING_JOB,
  WORKER,
} from "./jobs.ts";
import { AT_TIER, COUNT, GATES, HEAD, IN_LANE, LEASED, QUEUE, TAIL, WAITING } from "./nodes.ts";
import type { Queue, Worker } from "./queue.ts";
import type { HistoryEntry } from "./types.ts";

/**
 * The moves of a job between its states: into and out of its flow, the timers, a lease, the list of kept
 * jobs. Each keeps the books that belong to the state, and nothing else; what a move means is decided
 * by the verbs.
 */

/** Entries of a job's history that are kept; the oldest but the first go. */
const HISTORY_MAX = 32;

/** The job waits from now on, at the back of its flow or, given back, at the front. */
export function enterFlow(core: Core, row: number, now: number, atFront = false, seq = 0): void {
  const { jobs, lanes } = core;
  const flow = jobs.int(row, IN_FLOW);
  const lane = lanes.get(flow, IN_LANE);
  const queue = core.queues[lanes.get(lane, QUEUE)]!;
  jobs.setInt(row, STATE, WAITING_JOB);
  jobs.setNum(row, TIME, now);
  // A job that comes back while its queue is purged was not waiting when the purge was called for.
  const toFront = atFront && queue.purgeUpTo === 0;
  if (!toFront) jobs.setNum(row, SEQ, seq === 0 ? ++core.lastSeq : seq);
  link(core, flow, row, toFront);
  queue.waiting++;
  queue.waitingAt[lanes.get(lane, AT_TIER)]!++;
  queue.bytes += jobs.int(row, SIZE);
  const waiting = lanes.get(lane, WAITING);
  lanes.set(lane, WAITING, waiting + 1);
  if (waiting === 0) queue.lanes++;
  setLater(core, row, queue);
  if (lanes.get(flow, HEAD) === row) core.lines.headChanged(flow, now);
}

function link(core: Core, flow: number, row: number, atFront: boolean): void {
  const { jobs, lanes } = core;
  const end = lanes.get(flow, atFront ? HEAD : TAIL);
  jobs.setInt(row, JOB_NEXT, atFront ? end : 0);
  jobs.setInt(row, JOB_PREV, atFront ? 0 : end);
  if (end !== 0) jobs.setInt(end, atFront ? JOB_PREV : JOB_NEXT, row);
  if (atFront || end === 0) lanes.set(flow, HEAD, row);
  if (!atFront || end === 0) lanes.set(flow, TAIL, row);
  lanes.set(flow, COUNT, lanes.get(flow, COUNT) + 1);
}

/** Takes a waiting job off its flow; answers whether it was the head. */
export function unlink(core: Core, row: number): boolean {
  const { jobs, lanes } = core;
  const flow = jobs.int(row, IN_FLOW);
  const lane = lanes.get(flow, IN_LANE);
  const queue = core.queues[lanes.get(lane, QUEUE)]!;
  const next = jobs.int(row, JOB_NEXT);
  const prev = jobs.int(row, JOB_PREV);
  if (prev === 0) lanes.set(flow, HEAD, next);
  else jobs.setInt(prev, JOB_NEXT, next);
  if (next === 0) lanes.set(flow, TAIL, prev);
  else jobs.setInt(next, JOB_PREV, prev);
  jobs.setInt(row, JOB_NEXT, 0);
  jobs.setInt(row, JOB_PREV, 0);
  lanes.set(flow, COUNT, lanes.get(flow, COUNT) - 1);
  queue.waiting--;
  queue.waitingAt[lanes.get(lane, AT_TIER)]!--;
  queue.bytes -= jobs.int(row, SIZE);
  const waiting = lanes.get(lane, WAITING) - 1;
  lanes.set(lane, WAITING, waiting);
  if (waiting === 0) queue.lanes--;
  if (core.later.has(row)) core.later.remove(row);
  return prev === 0;
}

/** Takes a waiting job away from wherever it stands. */
export function leaveFlow(core: Core, row: number, now: number): void {
  const flow = core.jobs.int(row, IN_FLOW);
  if (unlink(core, row)) core.lines.headChanged(flow, now);
}

/** The job waits for a time, not for its turn. */
export function delay(core: Core, row: number, until: number): void {
  const { jobs } = core;
  jobs.setInt(row, STATE, DELAYED_JOB);
  jobs.setNum(row, TIME, until);
  jobs.setNum(row, SEQ, ++core.lastSeq);
  jobs.setInt(row, POS, 0);
  core.timers.add(row, until, jobs.num(row, ID));
  const queue = core.queueOf(row);
  queue.delayed++;
  setLater(core, row, queue);
}

export function undelay(core: Core, row: number): void {
  core.timers.remove(row);
  core.queueOf(row).delayed--;
  if (core.later.has(row)) core.later.remove(row);
}

/** The second timer of a waiting or delayed job: its deadline, or its promotion. */
export function setLater(core: Core, row: number, queue: Queue): void {
  const { jobs } = core;
  let at = jobs.extra(row)?.deadline ?? Number.POSITIVE_INFINITY;
  const after = queue.config.promoteAfterMs;
  if (after !== undefined && jobs.int(row, STATE) === WAITING_JOB && core.tierOf(row) > 0) {
    at = Math.min(at, jobs.num(row, TIME) + after);
  }
  if (core.later.has(row)) core.later.remove(row);
  if (at !== Number.POSITIVE_INFINITY) core.later.add(row, at, jobs.num(row, ID));
}

/** The job, off its flow, is leased by a worker until a time. */
export function hold(core: Core, row: number, worker: Worker, until: number): void {
  const { jobs, lanes } = core;
  jobs.setInt(row, STATE, LEASED_JOB);
  jobs.setNum(row, TIME, until);
  jobs.setInt(row, POS, 0);
  jobs.setInt(row, WORKER, worker.index);
  core.timers.add(row, until, jobs.num(row, ID));
  const lane = core.laneOf(row);
  const queue = core.queues[lanes.get(lane, QUEUE)]!;
  queue.leased++;
  queue.leasedAt[lanes.get(lane, AT_TIER)]!++;
  lanes.set(lane, LEASED, lanes.get(lane, LEASED) + 1);
  worker.leased++;
}

/** Takes the lease off a job: its gates have a place more. */
export function unhold(core: Core, row: number, now: number): void {
  const { jobs, lanes } = core;
  core.timers.remove(row);
  const worker = core.workers[jobs.int(row, WORKER)]!;
  worker.leased--;
  if (worker.gone && worker.leased === 0) core.workers[worker.index] = undefined;
  jobs.setInt(row, WORKER, 0);
  const flow = jobs.int(row, IN_FLOW);
  const lane = lanes.get(flow, IN_LANE);
  const queue = core.queues[lanes.get(lane, QUEUE)]!;
  queue.leased--;
  queue.leasedAt[lanes.get(lane, AT_TIER)]!--;
  lanes.set(lane, LEASED, lanes.get(lane, LEASED) - 1);
  const set = lanes.get(flow, GATES);
  if (set !== 0) core.lines.release(core.gates.set(set), now);
  if (queue.leased === queue.config.capacity.leased - 1) workChanged(core, queue);
}

/** A queue may have got, or lost, the means to work. */
export function workChanged(core: Core, queue: Queue): void {
  core.lines.workChanged(queue);
  core.wake(queue);
}

/** The job has ended and is kept for a while, the oldest of its queue first to go. */
export function keep(core: Core, row: number, queue: Queue, now: number): void {
  const { jobs } = core;
  jobs.setInt(row, STATE, ENDED_JOB);
  jobs.setNum(row, TIME, now);
  jobs.setInt(row, JOB_NEXT, 0);
  jobs.setInt(row, JOB_PREV, queue.keptTail);
  if (queue.keptTail === 0) queue.keptHead = row;
  else jobs.setInt(queue.keptTail, JOB_NEXT, row);
  queue.keptTail = row;
  queue.kept++;
  if (queue.keptHead === row) core.later.add(row, now + queue.config.results.ms, 0);
}

export function unkeep(core: Core, row: number, queue: Queue): void {
  const { jobs } = core;
  const next = jobs.int(row, JOB_NEXT);
  const prev = jobs.int(row, JOB_PREV);
  if (prev === 0) queue.keptHead = next;
  else jobs.setInt(prev, JOB_NEXT, next);
  if (next === 0) queue.keptTail = prev;
  else jobs.setInt(next, JOB_PREV, prev);
  jobs.setInt(row, JOB_NEXT, 0);
  jobs.setInt(row, JOB_PREV, 0);
  queue.kept--;
  if (core.later.has(row)) core.later.remove(row);
  if (prev === 0 && next !== 0) {
    core.later.add(next, jobs.num(next, TIME) + queue.config.results.ms, 0);
  }
}

/** The job, off every list, is forgotten. */
export function forget(core: Core, row: number): void {
  const flow = core.jobs.int(row, IN_FLOW);
  core.ids.remove(row);
  core.jobs.discard(row);
  core.lanes.unuse(flow);
}

/** Makes a job belong to another flow; the one it leaves may be gone afterwards. */
export function changeFlow(core: Core, row: number, flow: number): void {
  const old = core.jobs.int(row, IN_FLOW);
  core.lanes.use(flow);
  core.jobs.setInt(row, IN_FLOW, flow);
  core.lanes.unuse(old);
}

/** Notes an event that a job's row does not show. */
export function note(
  core: Core,
  row: number,
  event: HistoryEntry["event"],
  at: number,
  detail?: string,
): void {
  const extra = core.jobs.needExtra(row);
  extra.history ??= [{ at: core.jobs.num(row, ADDED), event: "added" }];
  extra.history.push(detail === undefined ? { at, event } : { at, event, detail });
  if (extra.history.length > HISTORY_MAX) extra.history.splice(1, 1);
}
