/**
 * Times on the wall. Everything here goes by the engine's own time, which never steps; only `runAt`
 * and `deadline` are what the clock on the wall shows. They are kept as they were given, beside the
 * time at which they fall due as the engine sees it: that is earlier by what the wall is ahead.
 *
 * When the wall steps, one fact tells how far it is ahead now, and a walk over all jobs moves their
 * timers. A timer that fires before the walk has reached it is looked at again, so that nothing
 * goes out too early; what should be earlier is moved by the walk. What has once fallen due stays
 * so: a job that waits for its turn is not sent back when the wall is.
 */
import type { Core } from "../core.ts";
import { walk } from "../tables/table-walk.ts";
import { DELAYED_JOB, TIME } from "./job-fields.ts";
import { setLater } from "./moves.ts";

/** Most jobs have no such times and are passed over; a move takes half a microsecond. */
const ROWS_PER_STEP = 1000;

/** Remembers a time on the wall clock: until then a step of that clock matters. */
export function noteWall(core: Core, wallAt: number): void {
  if (wallAt !== Number.POSITIVE_INFINITY)
    core.wall.timedUntil = Math.max(core.wall.timedUntil, wallAt);
}

/** The wall clock is now `aheadMs` ahead of the engine's time. */
export function setWallAhead(core: Core, aheadMs: number): void {
  // A mark tells it again.
  if (aheadMs === core.wall.aheadMs) return;
  core.wall.aheadMs = aheadMs;
  if (core.wall.timedUntil === 0) return;
  core.chores.push(walk(core, core.jobs, (row) => void retime(core, row), ROWS_PER_STEP));
  const { schedules } = core;
  if (schedules.size === 0) return;
  core.chores.push(walk(core, schedules.rows, (row) => schedules.retimeRow(row)));
}

/** When a job expires, also before the walk has moved its timers; Infinity: never. */
export function deadlineOf(core: Core, row: number): number {
  const extra = core.jobs.extra(row);
  if (extra === undefined) return Number.POSITIVE_INFINITY;
  const isOnWall = extra.wallDeadline !== Number.POSITIVE_INFINITY;
  return isOnWall ? extra.wallDeadline - core.wall.aheadMs : extra.deadline;
}

/** Puts the timers of a job where the wall has them; true: one of them was elsewhere. */
export function retime(core: Core, row: number): boolean {
  const { jobs } = core;
  const extra = jobs.extra(row);
  if (extra === undefined) return false;
  let isMoved = false;
  const dueAt = extra.runAt - core.wall.aheadMs;
  if (jobs.state(row) === DELAYED_JOB && Number.isFinite(dueAt) && dueAt !== jobs.num(row, TIME)) {
    jobs.setNum(row, TIME, dueAt);
    core.timers.move(row, dueAt);
    isMoved = true;
  }
  const deadline = extra.wallDeadline - core.wall.aheadMs;
  if (Number.isFinite(deadline) && deadline !== extra.deadline) {
    extra.deadline = deadline;
    if (core.later.has(row)) setLater(core, row, core.queueOf(row));
    isMoved = true;
  }
  return isMoved;
}
