/**
 * Ordered lanes. Of the ordered jobs of a lane, one is *first*: it waits in its strand, is delayed
 * or leased like any other job. The others are held, oldest first, in a list of their own, and
 * have no part in the decisions of lanes and gates. When the first one ends, dies or leaves the
 * lane, the next is released: it takes its place in its strand, by its age.
 *
 * A job takes its place when it is added (also one with a delay), redriven, revived or promoted. A
 * failure, a sleep or a lease given back keeps it. Dead letters have no order.
 *
 * Held jobs count as waiting ones. They have the same facts: `due` releases one, and its record
 * says that it is held.
 */
import type { Core } from "../core.ts";
import { ORDER_FIRST, ORDER_HEAD, ORDER_TAIL } from "../ring/node-fields.ts";
import { HELD_JOB, JOB_NEXT, JOB_PREV, SEQ, SIZE, TIME } from "./job-fields.ts";
import { countWaiting, setLater, uncountWaiting } from "./moves.ts";

/**
 * Gives an ordered job its place in its lane. True: it is held, and due at `dueAt` at the earliest;
 * false: it is first.
 */
export function enterOrder(core: Core, row: number, dueAt: number): boolean {
  const { lanes } = core;
  const lane = core.laneOf(row);
  if (lanes.get(lane, ORDER_FIRST) === 0 && lanes.get(lane, ORDER_HEAD) === 0) {
    becomeFirst(core, row);
    return false;
  }
  holdBack(core, row, dueAt);
  return true;
}

export function becomeFirst(core: Core, row: number): void {
  core.jobs.setInOrder(row, true);
  core.lanes.set(core.laneOf(row), ORDER_FIRST, row);
}

/** The job waits for those ahead of it; `seq`: it did so before a restart, in this place. */
export function holdBack(core: Core, row: number, dueAt: number, seq = 0): void {
  const { jobs, lanes } = core;
  const lane = core.laneOf(row);
  jobs.setState(row, HELD_JOB);
  jobs.setInOrder(row, true);
  jobs.setNum(row, TIME, dueAt);
  jobs.setNum(row, SEQ, seq === 0 ? ++core.lastSeq : seq);
  const prev = placeHeld(core, lane, jobs.num(row, SEQ));
  const next = prev === 0 ? lanes.get(lane, ORDER_HEAD) : jobs.int(prev, JOB_NEXT);
  link(core, lane, prev, row);
  link(core, lane, row, next);
  const queue = core.queueOf(row);
  queue.waiting++;
  queue.waitingAt[jobs.tier(row)]!++;
  queue.bytes += jobs.int(row, SIZE);
  countWaiting(core, lane);
  setLater(core, row, queue);
}

/** Makes two jobs neighbours; 0 is the end of the list. */
function link(core: Core, lane: number, prev: number, next: number): void {
  if (prev === 0) core.lanes.set(lane, ORDER_HEAD, next);
  else core.jobs.setInt(prev, JOB_NEXT, next);
  if (next === 0) core.lanes.set(lane, ORDER_TAIL, prev);
  else core.jobs.setInt(next, JOB_PREV, prev);
}

/** Where to put a held job: behind the last, unless its record came again after a restart. */
function placeHeld(core: Core, lane: number, seq: number): number {
  const { jobs, lanes, lastPlaced } = core;
  const tail = lanes.get(lane, ORDER_TAIL);
  if (tail === 0 || jobs.num(tail, SEQ) < seq) return tail;
  // Strands and lanes are rows of one table, so that one map serves both.
  const last = lastPlaced.get(lane) ?? 0;
  const isThere = isHeld(core, last) && core.laneOf(last) === lane;
  let prev = isThere && jobs.num(last, SEQ) < seq ? last : 0;
  let next = prev === 0 ? lanes.get(lane, ORDER_HEAD) : jobs.int(prev, JOB_NEXT);
  while (next !== 0 && jobs.num(next, SEQ) < seq) {
    prev = next;
    next = jobs.int(next, JOB_NEXT);
  }
  lastPlaced.set(lane, prev);
  return prev;
}

export function isHeld(core: Core, row: number): boolean {
  return row !== 0 && core.jobs.state(row) === HELD_JOB;
}

/** Takes a held job out of the order of its lane. */
export function leaveHeld(core: Core, row: number): void {
  const { jobs } = core;
  const lane = core.laneOf(row);
  const queue = core.queueOf(row);
  link(core, lane, jobs.int(row, JOB_PREV), jobs.int(row, JOB_NEXT));
  jobs.setInt(row, JOB_PREV, 0);
  jobs.setInt(row, JOB_NEXT, 0);
  jobs.setInOrder(row, false);
  queue.waiting--;
  queue.waitingAt[jobs.tier(row)]!--;
  queue.bytes -= jobs.int(row, SIZE);
  uncountWaiting(core, lane);
  if (core.later.has(row)) core.later.remove(row);
}
