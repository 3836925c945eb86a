/**
 * The ticks of a cron expression in a time zone. `croner` says which local times match, as if there
 * were no zones; which moment a local time is, and what becomes of those that do not exist or occur
 * twice, is decided here by the rules of docs/schedules.md.
 */
import { invalid } from "@sluice/protocol";
import { Cron } from "croner";
import { type Change, Zone } from "./zone.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Beyond any change of a clock: local times this far apart are in order. */
const CHANGE_MS_MAX = DAY_MS + HOUR_MS;

export class CronTimes {
  readonly #crons: readonly Cron[];
  readonly #zone: Zone | undefined;
  /** It ticks in every hour: it follows the clock that is on the wall there. */
  readonly #isHourly: boolean;
  /** Many schedules share an expression, and are due together. */
  #lastAfter = Number.NaN;
  #lastNext: number | undefined;

  constructor(expression: string, timezone = "UTC") {
    this.#crons = read(expression);
    this.#isHourly = isHourly(expression);
    this.#zone = timezone === "UTC" ? undefined : Zone.of(timezone);
  }

  /** The first tick after a time; undefined: there is none. */
  next(after: number): number | undefined {
    if (after === this.#lastAfter) return this.#lastNext;
    this.#lastNext = this.#reckon(after);
    this.#lastAfter = after;
    return this.#lastNext;
  }

  #reckon(after: number): number | undefined {
    if (this.#zone === undefined) return this.#match(after);
    return this.#isHourly ? this.#nextShown(this.#zone, after) : this.#nextOnce(this.#zone, after);
  }

  /** Where so many ticks up to a time begin, or a little earlier. */
  startOf(count: number, upTo: number): number {
    const local = upTo + (this.#zone?.offsetAt(upTo) ?? 0);
    const starts = this.#crons.map((cron) => {
      return (
        cron
          .previousRuns(count, new Date(local + 1000))
          .at(-1)
          ?.getTime() ?? 0
      );
    });
    // From the latest on, one of them alone has as many.
    const first = Math.max(...starts);
    return this.#zone === undefined ? first - 1 : this.#moment(this.#zone, first) - 1;
  }

  /** The first local time after one that matches. */
  #match(local: number): number | undefined {
    let first: number | undefined;
    for (const cron of this.#crons) {
      const match = cron.nextRun(new Date(local))?.getTime();
      if (match !== undefined && (first === undefined || match < first)) first = match;
    }
    return first;
  }

  /** The next moment at which the local clock shows a time that matches. */
  #nextShown(zone: Zone, after: number): number | undefined {
    let offset = zone.offsetAt(after);
    let from = after;
    let local = after + offset;
    for (;;) {
      const match = this.#match(local);
      if (match === undefined) return undefined;
      const at = match - offset;
      const change = zone.changes(from, at)[0];
      if (change === undefined) return at;
      from = change.at;
      offset = change.after;
      // A match at the very moment of the change counts.
      local = change.at + offset - 1;
    }
  }

  /** The next moment of a matching local time, each of which has one. */
  #nextOnce(zone: Zone, after: number): number | undefined {
    let local = after + zone.offsetAt(after);
    // A local time that is shown for the second time: those up to its end have ticked.
    if (this.#moment(zone, local) < after) {
      const change = zone.changes(after - CHANGE_MS_MAX, after).at(-1)!;
      local = change.at + change.before - 1;
    }
    for (;;) {
      const match = this.#match(local);
      if (match === undefined) return undefined;
      const at = this.#moment(zone, match);
      if (at > after) return at;
      local = match;
    }
  }

  /** The moment of a local time: the first of two, or when the clock goes forward over it. */
  #moment(zone: Zone, local: number): number {
    const changes = zone.changes(local - CHANGE_MS_MAX, local + CHANGE_MS_MAX);
    if (changes.length === 0) return local - zone.offsetAt(local);
    for (const [i, { at, before }] of changes.entries()) {
      const moment = local - before;
      const from = changes[i - 1]?.at ?? Number.NEGATIVE_INFINITY;
      if (moment >= from && moment < at) return moment;
      if (isSkipped(changes[i]!, local)) return at;
    }
    return local - changes.at(-1)!.after;
  }
}

function isSkipped({ at, before, after }: Change, local: number): boolean {
  return local >= at + before && local < at + after;
}

function read(expression: string): readonly Cron[] {
  // `?` would mean the time at which the expression is read.
  if (expression.includes("?")) throw refused(expression, '"?" is not supported: use "*"');
  try {
    return alternatives(expression).map(zoneless);
  } catch (error) {
    throw refused(expression, (error as Error).message.replace(/^CronPattern: /, ""));
  }
}

/** Without zones: local times are those of UTC. */
function zoneless(expression: string): Cron {
  return new Cron(expression, { utcOffset: 0, paused: true });
}

/**
 * A day that matches either by its number or by its weekday, as two expressions. In one, `croner`
 * 11.0.0 and all before it leave out the first days of a March that follows a short February.
 */
function alternatives(expression: string): string[] {
  const fields = expression.trim().split(/\s+/);
  // Five fields; seconds come before them, the year behind.
  const day = fields.length === 5 ? 2 : 3;
  const weekday = day + 2;
  const isEither =
    fields.length >= 5 && ![fields[day], fields[weekday]].some((field) => field!.startsWith("*"));
  // A plus means that both must match.
  if (!isEither || fields[weekday]!.startsWith("+")) return [expression];
  return [fields.with(weekday, "*").join(" "), fields.with(day, "*").join(" ")];
}

function refused(expression: string, why: string): Error {
  return invalid("schedule.cron", `a cron expression (${why})`, expression);
}

/** Whether the hour field matches all 24 hours. */
function isHourly(expression: string): boolean {
  const fields = expression.trim().split(/\s+/);
  if (fields.length < 5) return fields[0]!.toLowerCase() === "@hourly";
  const hour = fields.length === 5 ? fields[1]! : fields[2]!;
  const hours = zoneless(`0 0 ${hour} * * *`);
  return hours.nextRuns(24, new Date(-1)).at(-1)?.getTime() === 23 * HOUR_MS;
}
