import type { Teller } from "../facts/facts.ts";
import { SortedMap } from "../tables/sorted-map.ts";
import { Table } from "../tables/table.ts";
import { Timers } from "../tables/timers.ts";
import type { Ending } from "../types.ts";
import type { Schedule, ScheduleRecord, ScheduleRun } from "./schedule.ts";

/** The timers' field of a row. */
const POS = 1;
const INTS = 2;

const FAILURES: ReadonlySet<Ending> = new Set(["dead", "failed", "wait-too-long"]);

/**
 * So many schedules may all be due at once, each with a job and a lane of its own. The tables for
 * them are reserved before that: a reserve starts a garbage collection, which took 90 ms when
 * 100,000 schedules were due and takes 8 ms at this size.
 */
const MANY = 8192;

/** What the schedules know of the engine that they are in. */
interface ScheduleOwner extends Teller {
  reserve(): void;
  readonly now: number;
  readonly isReplaying: boolean;
  readonly wall: { readonly aheadMs: number; timedUntil: number };
}

/** All schedules by their keys, when each is due, and how many of its runs have not ended. */
export class ScheduleTable {
  readonly #core: ScheduleOwner;
  readonly byKey = new SortedMap<Schedule>();
  readonly rows = new Table(INTS);
  readonly timers = new Timers(this.rows, POS);
  readonly #byRow: (Schedule | undefined)[] = [];
  /** Also of keys that no schedule has: a replay may meet a run before its schedule. */
  readonly #runs = new Map<string, number>();
  #lastTie = 0;

  constructor(core: ScheduleOwner) {
    this.#core = core;
  }

  get size(): number {
    return this.byKey.size;
  }

  at(row: number): Schedule | undefined {
    return this.#byRow[row];
  }

  /** Makes a schedule, or puts one into another state. */
  put(key: string, record: ScheduleRecord): Schedule {
    const old = this.byKey.get(key);
    const row = old?.row ?? this.rows.alloc();
    const { held, lastTick, lastRun, next, due } = record;
    const made: Schedule = {
      key,
      row,
      config: record.config,
      decidedUntil: record.decidedUntil,
      next,
      due,
      made: record.made,
      pausedBy: record.pausedBy,
      held,
      lastTick,
      lastRun,
      retryAt: 0,
      refused: old?.refused,
      isTaken: false,
    };
    this.byKey.set(key, made);
    if (this.size === MANY) this.#core.reserve();
    this.#byRow[row] = made;
    this.retime(made);
    return made;
  }

  delete(key: string): boolean {
    const schedule = this.byKey.get(key);
    if (schedule === undefined) return false;
    if (this.timers.has(schedule.row)) this.timers.remove(schedule.row);
    this.#byRow[schedule.row] = undefined;
    this.rows.free(schedule.row);
    return this.byKey.delete(key);
  }

  /** When it is to be looked at next, in the engine's time; Infinity: never. */
  dueAt({ key, due, held, pausedBy, retryAt }: Schedule): number {
    let at = Number.POSITIVE_INFINITY;
    if (due !== undefined) at = due - this.#core.wall.aheadMs;
    // A held tick is due when the last run before it has ended.
    if (held !== undefined && pausedBy === "" && this.runsOf(key) === 0) at = 0;
    return Math.max(at, retryAt);
  }

  /** Sets its timer by what it is like now. */
  retime(schedule: Schedule): void {
    const { row, due } = schedule;
    const { wall } = this.#core;
    // Until then a step of the wall concerns it.
    if (due !== undefined) wall.timedUntil = Math.max(wall.timedUntil, due);
    if (this.timers.has(row)) this.timers.remove(row);
    if (schedule.isTaken) return;
    const at = this.dueAt(schedule);
    if (at !== Number.POSITIVE_INFINITY) this.timers.add(row, at, ++this.#lastTie);
  }

  /** After a step of the wall. */
  retimeRow(row: number): void {
    const schedule = this.#byRow[row];
    if (schedule !== undefined) this.retime(schedule);
  }

  runsOf(key: string): number {
    return this.#runs.get(key) ?? 0;
  }

  /** A job of a schedule begins, or is known again. */
  runBegan({ key, tick, byHand, isOver }: ScheduleRun, isNew: boolean): void {
    if (isOver === true) return;
    this.#runs.set(key, this.runsOf(key) + 1);
    const schedule = this.byKey.get(key);
    if (schedule === undefined || byHand === true || !isNew) return;
    schedule.made++;
    schedule.decidedUntil = Math.max(schedule.decidedUntil, tick);
    if (schedule.held === tick) schedule.held = undefined;
  }

  /** The run has ended, or is a dead letter now: what waited for it may go on. */
  runEnded(run: ScheduleRun, id: number, ending: Ending, error: string | undefined): void {
    if (run.isOver === true) return;
    run.isOver = true;
    const left = this.runsOf(run.key) - 1;
    if (left > 0) this.#runs.set(run.key, left);
    else this.#runs.delete(run.key);
    const schedule = this.byKey.get(run.key);
    if (schedule === undefined) return;
    schedule.lastRun = { job: id, at: this.#core.now, ending, error };
    const isFailed = schedule.config.pauseOnFailure && FAILURES.has(ending);
    if (isFailed && schedule.pausedBy === "" && !this.#core.isReplaying) {
      schedule.pausedBy = "failure";
      this.tell(schedule);
    }
    if (schedule.held !== undefined && left === 0) this.retime(schedule);
  }

  /** Tells all that is remembered of a schedule. */
  tell(schedule: Schedule): void {
    const { key } = schedule;
    this.#core.tell({ at: this.#core.now, fact: "schedule", key, schedule: recordOf(schedule) });
  }
}

export function recordOf(schedule: Schedule): ScheduleRecord {
  const { config, decidedUntil, next, due, made, pausedBy, held, lastTick, lastRun } = schedule;
  return { config, decidedUntil, next, due, made, pausedBy, held, lastTick, lastRun };
}
