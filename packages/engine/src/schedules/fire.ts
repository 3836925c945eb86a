/** What becomes of the ticks of a schedule that are due. */
import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import { ADD_STEPS_MAX } from "../limits.ts";
import type { JobSpec } from "../types.ts";
import { add, addSteps } from "../verbs/add.ts";
import type { Schedule, ScheduleConfig, TickOutcome } from "./schedule.ts";

/** A tick of the plan, when it is due, and the job that it adds. */
export interface DueTick {
  readonly tick: number;
  readonly due: number;
  readonly spec: JobSpec;
}

/** What the caller says of a schedule that is due. All times are on the wall. */
export interface DueTicks {
  /** The options from which this was computed. Others were set since: it is of no use then. */
  readonly config?: ScheduleConfig | undefined;
  /** Those that are due and not decided yet, the oldest first. */
  readonly ticks: readonly DueTick[];
  /** There are older ones up to here, too many to be listed. */
  readonly olderUntil?: number | undefined;
  /** The job of the tick that is held. */
  readonly held?: JobSpec | undefined;
  /** The tick behind them, and when it is due; absent: there is none. */
  readonly next?: number | undefined;
  readonly nextDue?: number | undefined;
  /** What was due before this was missed: nothing was there to see it. */
  readonly lateBefore: number;
}

type Ticked = Extract<Fact, { fact: "ticked" }>;

/** Ticks that one call decides: each is a fact, and perhaps a job. */
const TICKS_PER_CALL = 100;

/** How long to leave a queue alone that has refused a job and does not say. */
const RETRY_MS = 1000;

/** Decides what is due, as much of it as one call may; the rest stays due. */
export function fire(core: Core, schedule: Schedule, due: DueTicks, now: number): void {
  schedule.retryAt = 0;
  if (schedule.held !== undefined && !runHeld(core, schedule, due, now)) return;
  const ticks = due.ticks.filter(({ tick }) => tick > schedule.decidedUntil);
  skipOlder(core, schedule, due, now);
  let steps = 0;
  for (let i = 0; i < ticks.length; i++) {
    if (isSpent(schedule)) break;
    const { spec } = ticks[i]!;
    steps += addSteps(spec);
    if (i >= TICKS_PER_CALL || (i > 0 && steps > ADD_STEPS_MAX)) return;
    const outcome = judge(core, schedule, ticks, i, due, now);
    if (outcome !== undefined) decide(core, schedule, ticks, i, due, outcome, now);
    else if (!run(core, schedule, ticks, i, due, now)) return;
  }
  schedule.refused = undefined;
  setNext(core, schedule, due);
}

function isSpent({ made, config: { limit } }: Schedule): boolean {
  return limit !== undefined && made >= limit;
}

/** Nothing was due after all, or the plan has another next tick than was known. */
function setNext(core: Core, schedule: Schedule, { next, nextDue }: DueTicks): void {
  const wanted = isSpent(schedule) ? undefined : next;
  if (schedule.next === wanted && schedule.due === (wanted && nextDue)) return;
  schedule.next = wanted;
  schedule.due = wanted === undefined ? undefined : nextDue;
  core.schedules.tell(schedule);
}

/** False: its queue refused the job of the held tick, which is tried again. */
function runHeld(core: Core, schedule: Schedule, due: DueTicks, now: number): boolean {
  const { held: tick, key, pausedBy } = schedule;
  if (due.held === undefined || pausedBy !== "" || core.schedules.runsOf(key) > 0) return true;
  const following = due.ticks[0] ?? { tick: due.next, due: due.nextDue };
  const told = { key, tick: tick!, next: following.tick, due: following.due };
  try {
    const { job, outcome } = addRun(core, schedule, tick!, due.held, now);
    tell(core, schedule, { ...ticked(now), ...told, outcome, job });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // It waits on, and takes the place of no later tick.
    schedule.retryAt = now + (error.details.retryAfterMs ?? RETRY_MS);
    if (due.ticks.length > 0) {
      tell(core, schedule, { ...ticked(now), ...told, outcome: "refused", error: error.message });
      schedule.retryAt = 0;
    }
    return due.ticks.length > 0;
  }
}

/** Skips ticks that are too many for a fact each. */
function skipOlder(core: Core, schedule: Schedule, due: DueTicks, now: number): void {
  const { olderUntil } = due;
  if (olderUntil === undefined || olderUntil <= schedule.decidedUntil) return;
  const first = due.ticks[0];
  const told = { key: schedule.key, tick: olderUntil, next: first?.tick, due: first?.due };
  const outcome = lateOutcome(core, schedule, olderUntil, "too-many", now);
  tell(core, schedule, { ...ticked(now), ...told, outcome, after: schedule.decidedUntil });
}

function lateOutcome(
  core: Core,
  { config, pausedBy }: Schedule,
  tick: number,
  other: TickOutcome,
  now: number,
): TickOutcome {
  if (pausedBy !== "") return "paused";
  if (config.catchUp !== "all") return "missed";
  const wall = now + core.wall.aheadMs;
  return tick < wall - config.catchUpWindowMs ? "too-old" : other;
}

/** Why a tick is skipped, or that it is held; undefined: its job is to be added. */
function judge(
  core: Core,
  schedule: Schedule,
  ticks: readonly DueTick[],
  i: number,
  { lateBefore }: DueTicks,
  now: number,
): TickOutcome | undefined {
  const { config, key, pausedBy, refused } = schedule;
  const { tick, due } = ticks[i]!;
  if (pausedBy !== "") return "paused";
  // The next tick has come: what was refused until now is over.
  if (refused !== undefined && tick <= refused.upTo && ticks.at(-1)!.tick > refused.upTo) {
    return "refused";
  }
  if (due < lateBefore) {
    const isNewest = i === ticks.length - 1 || ticks[i + 1]!.due >= lateBefore;
    if (config.catchUp === "none" || (config.catchUp === "one" && !isNewest)) return "missed";
    if (config.catchUp === "all" && lateOutcome(core, schedule, tick, "added", now) === "too-old") {
      return "too-old";
    }
  }
  if (config.overlap === "allow" || core.schedules.runsOf(key) === 0) return undefined;
  return config.overlap === "wait" && schedule.held === undefined ? "held" : "overlap";
}

/** False: the queue refused the job. */
function run(
  core: Core,
  schedule: Schedule,
  ticks: readonly DueTick[],
  i: number,
  due: DueTicks,
  now: number,
): boolean {
  const { tick, spec } = ticks[i]!;
  try {
    const { job, outcome } = addRun(core, schedule, tick, spec, now);
    decide(core, schedule, ticks, i, due, outcome, now, job);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    schedule.refused = { upTo: ticks.at(-1)!.tick, error: error.message };
    const waitMs = error.details.retryAfterMs ?? RETRY_MS;
    const nextMs = (due.nextDue ?? Number.POSITIVE_INFINITY) - core.wall.aheadMs;
    schedule.retryAt = Math.min(now + Math.max(1, waitMs), Math.max(nextMs, now + 1));
    return false;
  }
}

function addRun(
  core: Core,
  { key, config }: Schedule,
  tick: number,
  spec: JobSpec,
  now: number,
): { job?: number; outcome: TickOutcome } {
  const added = add(core, core.queue(config.queue), { ...spec, schedule: { key, tick } }, now);
  if (added.dropped === true) return { outcome: "dropped" };
  return { job: added.id, outcome: added.duplicate === true ? "duplicate" : "added" };
}

/** Tells what became of a tick, and which comes next. */
function decide(
  core: Core,
  schedule: Schedule,
  ticks: readonly DueTick[],
  i: number,
  due: DueTicks,
  outcome: TickOutcome,
  now: number,
  job?: number,
): void {
  const following = ticks[i + 1] ?? { tick: due.next, due: due.nextDue };
  const isLast = isSpent(schedule) || following.tick === undefined;
  const error = outcome === "refused" ? schedule.refused?.error : undefined;
  tell(core, schedule, {
    ...ticked(now),
    key: schedule.key,
    tick: ticks[i]!.tick,
    outcome,
    job,
    error,
    next: isLast ? undefined : following.tick,
    due: isLast ? undefined : following.due,
  });
}

function ticked(at: number): Pick<Ticked, "at" | "fact" | "job" | "error" | "after"> {
  return { at, fact: "ticked", job: undefined, error: undefined, after: undefined };
}

function tell(core: Core, schedule: Schedule, fact: Ticked): void {
  core.tell(fact);
  applyTicked(schedule, fact);
}

/** Applies `fact` to the schedule. The fact of its job contains the rest. */
export function applyTicked(schedule: Schedule, fact: Ticked): void {
  const { tick, outcome, job, error, next, due, at } = fact;
  schedule.decidedUntil = Math.max(schedule.decidedUntil, tick);
  if (outcome === "held") schedule.held = tick;
  else if (schedule.held === tick) schedule.held = undefined;
  schedule.next = next;
  schedule.due = next === undefined ? undefined : due;
  schedule.lastTick = { tick, at, outcome, job, error };
}
