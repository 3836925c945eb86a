import type { Core } from "./core.ts";
import type { Queue } from "./queue.ts";

/**
 * The dead jobs of a dead letter queue that could go back to where they came from: those that wait
 * or are delayed there, a list for each queue they came from, in the order in which they came. The
 * lists are linked through the jobs' extras, so a job that leaves by whatever way costs one step
 * and leaves nothing behind.
 */
export interface DeadList {
  head: number;
  tail: number;
}

/** A job begins to wait, or is delayed, in a dead letter queue. */
export function enterDead(core: Core, queue: Queue, row: number): void {
  const extra = core.jobs.extra(row);
  if (extra?.origin === undefined) return;
  const { dead } = queue;
  const list = dead.get(extra.origin.queue);
  extra.deadNext = 0;
  extra.deadPrev = list?.tail ?? 0;
  if (list === undefined) dead.set(extra.origin.queue, { head: row, tail: row });
  else {
    core.jobs.extra(list.tail)!.deadNext = row;
    list.tail = row;
  }
}

/** It does so no more. */
export function leaveDead(core: Core, queue: Queue, row: number): void {
  const extra = core.jobs.extra(row);
  if (extra?.origin === undefined) return;
  const { deadNext, deadPrev } = extra;
  const list = queue.dead.get(extra.origin.queue)!;
  if (deadPrev === 0) list.head = deadNext;
  else core.jobs.extra(deadPrev)!.deadNext = deadNext;
  if (deadNext === 0) list.tail = deadPrev;
  else core.jobs.extra(deadNext)!.deadPrev = deadPrev;
  if (list.head === 0) queue.dead.delete(extra.origin.queue);
}

/** The oldest dead job of a queue that is there to take it back; 0: there is none. */
export function nextDead(core: Core, queue: Queue): number {
  for (const [origin, { head }] of queue.dead) if (core.byName.has(origin)) return head;
  return 0;
}
