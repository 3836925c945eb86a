import type { Core } from "../core.ts";
import { ID, SEQ, TIME } from "../jobs/job-fields.ts";
import { delay, enterStrand } from "../jobs/moves.ts";
import { becomeFirst, holdBack, leaveHeld } from "../jobs/ordered.ts";
import { ORDER_FIRST, ORDER_HEAD } from "../ring/node-fields.ts";
import { start, watchWaits } from "./begin.ts";

/**
 * A job that is back begins to wait for its turn, or for the ordered jobs of its lane that are
 * ahead. It is held in any case, and released by a fact: who replays may not know those others.
 */
export function startInOrder(core: Core, row: number, now: number, dueAt = now): void {
  if (!core.jobs.isOrdered(row)) {
    return dueAt > now ? delay(core, row, dueAt) : start(core, row, now);
  }
  holdBack(core, row, dueAt);
  if (core.lanes.get(core.laneOf(row), ORDER_FIRST) === 0) releaseNext(core, row, now);
}

/** A job that is on no list gives up its place in the order of its lane: the next is released. */
export function leaveOrder(core: Core, row: number, now: number): void {
  const { jobs, lanes } = core;
  if (!jobs.isInOrder(row)) return;
  const lane = core.laneOf(row);
  jobs.setInOrder(row, false);
  if (lanes.get(lane, ORDER_FIRST) === row) lanes.set(lane, ORDER_FIRST, 0);
  const next = lanes.get(lane, ORDER_HEAD);
  if (next !== 0 && !core.queueOf(row).deleted) releaseNext(core, next, now);
}

/** In a replay the fact of the release follows. */
function releaseNext(core: Core, row: number, now: number): void {
  if (core.isReplaying) return;
  const id = core.jobs.num(row, ID);
  const dueAt = dueOf(core, row);
  if (dueAt > now) core.tell({ at: now, fact: "due", id, until: dueAt });
  else core.tell({ at: now, fact: "due", id });
  release(core, row, dueAt > now ? dueAt : undefined, now);
}

/** When a held job is due at the earliest; a time on the wall may have moved meanwhile. */
function dueOf(core: Core, row: number): number {
  const runAt = core.jobs.extra(row)?.runAt ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(runAt) ? runAt - core.wall.aheadMs : core.jobs.num(row, TIME);
}

/** The first of the held jobs of its lane is first in it now: it waits by its age, or until due. */
export function release(core: Core, row: number, until: number | undefined, now: number): void {
  const { jobs } = core;
  leaveHeld(core, row);
  becomeFirst(core, row);
  if (until === undefined) {
    enterStrand(core, row, now, true);
    watchWaits(core, row);
  } else {
    core.lastSeq++;
    delay(core, row, until, jobs.num(row, SEQ));
  }
}
