import {
  type Ending,
  type Engine,
  endStateOf,
  type JobSpec,
  type ScheduleView,
} from "@sluice/engine";
import {
  answerSchedule,
  BACKFILL_TIME,
  invalid,
  JOB_FIELDS,
  NAME,
  type OperationOptions,
  type Page,
  type ParsedSchedule,
  parseSchedule,
  type ScheduleInfo,
  type ScheduleOptions,
  type ScheduleRunNow,
  type SchedulesOptions,
  SluiceError,
  type Time,
  unknownField,
} from "@sluice/protocol";
import type { EngineCalls } from "../engine-calls.ts";
import { idOf } from "../job-ids.ts";
import { BACKFILL_MAX, SCHEDULE_PAYLOAD_BYTES_MAX, SCHEDULES_MAX } from "../limits.ts";
import type { Policies } from "../policy/policies.ts";
import { plainJson, tooLarge } from "../refuse.ts";
import { filledSpecs } from "./filled-specs.ts";
import { type Carried, jobOf, keyOf, nameOfKey, planOf, queueOfKey } from "./scheduled-jobs.ts";

/** Next ticks that are answered. */
const UPCOMING = 5;

/** Schedules that a list looks at in one turn, and jobs that a backfill adds in one. */
const LISTED_PER_TURN = 100;
const BACKFILLED_PER_TURN = 50;

interface ScheduleParts {
  readonly calls: EngineCalls;
  readonly policies: Policies;
}

/** The calls about schedules. */
export class ScheduleCalls {
  readonly #calls: EngineCalls;
  readonly #policies: Policies;

  constructor({ calls, policies }: ScheduleParts) {
    this.#calls = calls;
    this.#policies = policies;
  }

  async setSchedule(queue: string, name: string, options: ScheduleOptions): Promise<ScheduleInfo> {
    NAME.parse("schedule", name);
    const key = keyOf(queue, name);
    const { config, carried } = configOf(queue, parseSchedule(options));
    const plan = planOf({ key, config });
    // Its options are those of a job: refused now, and not at its first tick.
    jobOf({ key, config }, 0);
    await this.#calls.change((engine, now) => {
      const old = engine.schedules.get(key);
      if (old === undefined) checkRoom(key, engine);
      const isSame =
        old !== undefined && planText(old.config.carried as Carried) === planText(carried);
      const wall = now + engine.wall.aheadMs;
      const decidedUntil = isSame ? old.decidedUntil : Math.max(wall, old?.decidedUntil ?? 0);
      const next = plan.next(decidedUntil);
      if (next === undefined && !isSame) {
        throw invalid("schedule", "a schedule with a tick in the future", planText(carried));
      }
      const due = next && plan.dueAt(next);
      engine.schedules.set(key, { config, decidedUntil, next, due }, now);
    });
    return this.schedule(queue, name);
  }

  deleteSchedule(queue: string, name: string): Promise<void> {
    const key = keyOf(queue, name);
    return this.#calls.change((engine, now) => engine.schedules.delete(key, now));
  }

  async schedule(queue: string, name: string): Promise<ScheduleInfo> {
    return infoOf(this.#view(keyOf(queue, name)));
  }

  #view(key: string): ScheduleView {
    const view = this.#calls.ask((engine) => engine.schedules.get(key));
    if (view !== undefined) return view;
    const name = nameOfKey(key);
    const message = `there is no schedule ${JSON.stringify(name)} in queue ${queueOfKey(key)}`;
    throw new SluiceError("SCHEDULE_NOT_FOUND", message, { field: "schedule", value: name });
  }

  async schedules(options: SchedulesOptions = {}): Promise<Page<ScheduleInfo>> {
    const { limit = 100, cursor = "", queue, name, search = "" } = options;
    const prefix = queue === undefined ? "" : `${queue}/`;
    const wanted = search.toLowerCase();
    const items: ScheduleInfo[] = [];
    for (let after = cursor; ; ) {
      const some = this.#calls.ask((engine) =>
        engine.schedules.scan(prefix, after, LISTED_PER_TURN),
      );
      for (const view of some) {
        const own = nameOfKey(view.key);
        after = view.key;
        if ((name !== undefined && own !== name) || !own.toLowerCase().includes(wanted)) continue;
        items.push(infoOf(view));
        if (items.length === limit) return { items, cursor: after };
      }
      if (some.length < LISTED_PER_TURN) return { items };
      await new Promise(setImmediate);
    }
  }

  async pauseSchedule(queue: string, name: string): Promise<void> {
    await this.#calls.change((engine, now) => engine.schedules.pause(keyOf(queue, name), now));
  }

  async resumeSchedule(queue: string, name: string): Promise<void> {
    await this.#calls.change((engine, now) => engine.schedules.resume(keyOf(queue, name), now));
  }

  async runSchedule(
    queue: string,
    name: string,
    options: OperationOptions = {},
  ): Promise<ScheduleRunNow> {
    const key = keyOf(queue, name);
    const view = this.#view(key);
    const tick = this.#wall();
    const [spec] = await this.#filled(queue, [jobOf(view, tick)]);
    return this.#calls.changeOnce(`runSchedule ${key}`, options, (engine, now) => {
      const { id, dropped } = engine.schedules.run(key, tick, spec!, now);
      if (dropped === true) throw queueDrops(queue);
      return { id: idOf(id) };
    });
  }

  async backfillSchedule(
    queue: string,
    name: string,
    from: Time | string,
    to: Time | string,
    options: OperationOptions = {},
  ): Promise<number> {
    const key = keyOf(queue, name);
    const view = this.#view(key);
    const ticks = ticksOf(view, from, to, this.#wall());
    const { operationId } = options;
    let added = 0;
    for (let at = 0; at < ticks.length; at += BACKFILLED_PER_TURN) {
      const some = ticks.slice(at, at + BACKFILLED_PER_TURN);
      const specs = await this.#filled(
        queue,
        some.map((tick) => jobOf(view, tick)),
      );
      const named = operationId === undefined ? {} : { operationId: `${operationId}.${at}` };
      added += await this.#calls.changeOnce(`backfillSchedule ${key}`, named, (engine, now) => {
        const results = some.map((tick, i) => engine.schedules.run(key, tick, specs[i]!, now));
        return results.filter(({ dropped, duplicate }) => !dropped && !duplicate).length;
      });
    }
    return added;
  }

  #wall(): number {
    const { engine, now } = this.#calls;
    return now() + engine.wall.aheadMs;
  }

  async #filled(queue: string, specs: readonly JobSpec[]): Promise<readonly JobSpec[]> {
    return filledSpecs(this.#policies, this.#calls.engine, queue, specs);
  }
}

function configOf(queue: string, parsed: ParsedSchedule) {
  const { payload = null, options, ...rest } = parsed;
  const text = Buffer.from(
    JSON.stringify(plainJson("schedule.payload", payload, SCHEDULE_PAYLOAD_BYTES_MAX)),
  );
  if (text.length > SCHEDULE_PAYLOAD_BYTES_MAX) {
    throw tooLarge("schedule.payload", text, SCHEDULE_PAYLOAD_BYTES_MAX);
  }
  checkOptions(options);
  const given = options === undefined ? {} : { options: plainOptions(options) };
  const carried: Carried = { ...rest, ...given, payload: text };
  const { catchUp, catchUpWindowMs, overlap, pauseOnFailure, limit } = parsed;
  return {
    carried,
    config: { queue, catchUp, catchUpWindowMs, overlap, pauseOnFailure, limit, carried },
  };
}

/** The payload has its own place: here it would be ignored. */
function checkOptions(options: object | undefined): void {
  if (options === undefined || !("payload" in options)) return;
  throw unknownField("schedule.options.payload", JOB_FIELDS, options.payload);
}

/** A copy: dates among them stay what they are, as the log stores JSON. */
function plainOptions(options: NonNullable<ParsedSchedule["options"]>): typeof options {
  return plainJson("schedule.options", options, SCHEDULE_PAYLOAD_BYTES_MAX) as typeof options;
}

/** What decides when it ticks. */
function planText({ cron, everyMs, at, timezone, from, until }: Carried): string {
  return JSON.stringify({ cron, timezone, every: everyMs, at, from, until });
}

function checkRoom(key: string, engine: Engine): void {
  if (engine.schedules.size < SCHEDULES_MAX) return;
  const message = `schedule ${key} was not made: there are ${SCHEDULES_MAX} schedules. Delete some`;
  throw new SluiceError("LIMIT_REACHED", message, { field: "schedule", value: nameOfKey(key) });
}

function queueDrops(queue: string): SluiceError {
  const message = `queue ${queue} is full and drops new jobs; try again later or raise its capacity`;
  return new SluiceError("QUEUE_FULL", message, { queue, retryAfterMs: 1000 });
}

function ticksOf(
  view: ScheduleView,
  from: Time | string,
  to: Time | string,
  wall: number,
): readonly number[] {
  const [first, last] = [BACKFILL_TIME.parse("from", from), BACKFILL_TIME.parse("to", to)];
  if (last > wall) throw invalid("to", "a time in the past: future ticks run by themselves", to);
  if (first > last) throw invalid("from", "a time before `to`", from);
  const { ticks, olderUntil } = planOf(view).passed(first - 1, last, BACKFILL_MAX);
  if (olderUntil === undefined) return ticks;
  throw invalid("from", `the start of a range with at most ${BACKFILL_MAX} ticks`, from);
}

function infoOf(view: ScheduleView): ScheduleInfo {
  const { key, config, pausedBy, running, made, lastTick, lastRun } = view;
  const { payload, ...rest } = config.carried as Carried;
  const info: ScheduleInfo = {
    name: nameOfKey(key),
    queue: config.queue,
    config: answerSchedule({ ...rest, payload: JSON.parse(Buffer.from(payload).toString()) }),
    paused: pausedBy !== "",
    next: upcomingOf(view),
    running,
    added: made,
  };
  if (pausedBy !== "") info.pausedBy = pausedBy;
  if (lastTick !== undefined) {
    const { job, error, ...tick } = lastTick;
    info.lastTick = { ...tick, ...(job === undefined ? {} : { id: idOf(job) }) };
    if (error !== undefined) info.lastTick.error = error;
  }
  if (lastRun !== undefined) {
    const { job, ending, at, error } = lastRun;
    info.lastRun = { id: idOf(job), state: endStateOf(ending as Ending), at };
    if (error !== undefined) info.lastRun.error = error;
  }
  return info;
}

function upcomingOf(view: ScheduleView): readonly number[] {
  const { next, made, config } = view;
  if (next === undefined) return [];
  const left = config.limit === undefined ? UPCOMING : config.limit - made;
  try {
    return planOf(view).upcoming(next - 1, Math.min(UPCOMING, left));
  } catch {
    // Its time zone is not known any more.
    return [next];
  }
}
