import type { Core } from "../core.ts";
import { checkInteger, Refusal } from "../errors.ts";
import { SCAN_MAX } from "../limits.ts";
import type { AddResult, JobSpec } from "../types.ts";
import { add } from "../verbs/add.ts";
import { type DueTicks, fire } from "./fire.ts";
import type { Schedule, ScheduleConfig, ScheduleRecord } from "./schedule.ts";
import { recordOf } from "./schedule-table.ts";

/** A schedule as it is set: what it is like, and the ticks that its caller has reckoned. */
export interface NewSchedule {
  readonly config: ScheduleConfig;
  /** Ticks up to here are none of it. */
  readonly decidedUntil: number;
  readonly next?: number | undefined;
  readonly due?: number | undefined;
}

export interface ScheduleView extends ScheduleRecord {
  readonly key: string;
  /** Jobs of it that have not ended. */
  readonly running: number;
}

/** What can be done with schedules. A key is `queue/name`. */
export class Schedules {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  get size(): number {
    return this.#core.schedules.size;
  }

  /** Makes a schedule, or changes one in place: what it has done stays. */
  set(key: string, { config, decidedUntil, next, due }: NewSchedule, now: number): void {
    const core = this.#core;
    core.clock(now);
    core.queue(config.queue);
    const old = core.schedules.byKey.get(key);
    const made = old?.made ?? 0;
    const isSpent = config.limit !== undefined && made >= config.limit;
    const schedule = core.schedules.put(key, {
      ...(old ?? { pausedBy: "" }),
      made,
      config,
      held: isSpent ? undefined : old?.held,
      decidedUntil: Math.max(decidedUntil, old?.decidedUntil ?? 0),
      next: isSpent ? undefined : next,
      due: isSpent ? undefined : due,
    });
    core.schedules.tell(schedule);
  }

  /** The plan has other times than were known: what it decided stays decided. */
  setNext(key: string, next: number | undefined, due: number | undefined, now: number): void {
    this.#core.clock(now);
    const schedule = this.#find(key);
    schedule.next = next;
    schedule.due = due;
    this.#core.schedules.tell(schedule);
    this.#core.schedules.retime(schedule);
  }

  /** False: it was paused already. */
  pause(key: string, now: number): boolean {
    return this.#setPaused(key, "call", now);
  }

  resume(key: string, now: number): boolean {
    return this.#setPaused(key, "", now);
  }

  #setPaused(key: string, pausedBy: "" | "call", now: number): boolean {
    this.#core.clock(now);
    const schedule = this.#find(key);
    if ((schedule.pausedBy === "") === (pausedBy === "")) return false;
    schedule.pausedBy = pausedBy;
    this.#core.schedules.tell(schedule);
    this.#core.schedules.retime(schedule);
    return true;
  }

  /** Jobs of it stay. */
  delete(key: string, now: number): void {
    const at = this.#core.clock(now);
    this.#find(key);
    this.#core.schedules.delete(key);
    this.#core.tell({ at, fact: "schedule-deleted", key });
  }

  /** Adds a job of it now, beside the plan. */
  run(key: string, tick: number, spec: JobSpec, now: number): AddResult {
    const core = this.#core;
    const at = core.clock(now);
    const { config } = this.#find(key);
    const run = { key, tick, byHand: true as const };
    const added = add(core, core.queue(config.queue), { ...spec, schedule: run }, at);
    core.lines.settle(at);
    return added;
  }

  /**
   * Takes schedules that are due, at most so many: the caller answers each by `fire` or
   * `postpone`.
   */
  takeDue(now: number, max: number): ScheduleView[] {
    const { schedules } = this.#core;
    const at = this.#core.clock(now);
    const taken: ScheduleView[] = [];
    while (taken.length < max && schedules.timers.peekTime() <= at) {
      const schedule = schedules.at(schedules.timers.peek())!;
      // The wall may have stepped since its timer was set.
      if (schedules.dueAt(schedule) > at) schedules.retime(schedule);
      else {
        schedule.isTaken = true;
        schedules.retime(schedule);
        taken.push(this.#view(schedule));
      }
    }
    return taken;
  }

  /** Decides the ticks that are due; what one call does not decide stays due. */
  fire(key: string, due: DueTicks, now: number): void {
    const at = this.#core.clock(now);
    const schedule = this.#core.schedules.byKey.get(key);
    // It was deleted, or set again, while a policy was asked.
    if (schedule === undefined) return;
    if (due.config !== undefined && due.config !== schedule.config) return;
    schedule.isTaken = false;
    fire(this.#core, schedule, due, at);
    this.#core.schedules.retime(schedule);
    this.#core.lines.settle(at);
  }

  /** Leaves one that was taken alone for a while. */
  postpone(key: string, ms: number, now: number): void {
    const at = this.#core.clock(now);
    const schedule = this.#core.schedules.byKey.get(key);
    if (schedule === undefined) return;
    schedule.isTaken = false;
    schedule.retryAt = at + ms;
    this.#core.schedules.retime(schedule);
  }

  get(key: string): ScheduleView | undefined {
    const schedule = this.#core.schedules.byKey.get(key);
    return schedule && this.#view(schedule);
  }

  /** Those that begin with `prefix` and come after `after`, in order of their keys. */
  scan(prefix: string, after: string, limit: number): ScheduleView[] {
    checkInteger("limit", limit, 1, SCAN_MAX);
    const found: ScheduleView[] = [];
    const first = after > prefix ? after : prefix;
    for (const [key, schedule] of this.#core.schedules.byKey.from(first)) {
      if (found.length >= limit || !key.startsWith(prefix)) break;
      if (key !== after) found.push(this.#view(schedule));
    }
    return found;
  }

  #find(key: string): Schedule {
    const schedule = this.#core.schedules.byKey.get(key);
    if (schedule !== undefined) return schedule;
    const [queue, name] = key.split("/");
    const message = `there is no schedule ${JSON.stringify(name)} in queue ${queue}`;
    throw new Refusal("SCHEDULE_NOT_FOUND", message, { field: "schedule", value: name });
  }

  #view(schedule: Schedule): ScheduleView {
    const { key } = schedule;
    return { key, running: this.#core.schedules.runsOf(key), ...recordOf(schedule) };
  }
}
