/** What a schedule can be given: when it ticks, what it adds, and what becomes of a tick. */
import type { CatchUp, Overlap } from "@sluice/engine";
import { duration, type Time } from "../duration.ts";
import { type AnsweredFields, type Fields, fields, type GivenFields } from "../fields.ts";
import {
  answerOf,
  FLAG,
  integer,
  invalid,
  isObject,
  type Kind,
  kind,
  list,
  oneOf,
} from "../kinds.ts";
import * as limits from "../limits.ts";
import { JOB_SCHEMA, type JobOptions } from "./job-options.ts";

/** A point in time that may have travelled as JSON, which makes a text of a `Date`. */
const MOMENT: Kind<number, Time | string, number> = {
  words: "a Date, milliseconds since 1970, or a text such as 2026-03-01T03:00:00Z",
  schema: {
    anyOf: [
      { type: "number", minimum: 0, maximum: limits.TIME_MS_MAX },
      { type: "string", format: "date-time" },
    ],
  },
  parse(field, value) {
    const isText =
      typeof value === "string" && /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:?\d\d))?$/.test(value);
    const ms = value instanceof Date ? value.getTime() : isText ? timeOf(value) : value;
    if (typeof ms === "number" && ms >= 0 && ms <= limits.TIME_MS_MAX) return ms;
    throw invalid(field, this.words, value);
  },
};

/** NaN for 30 February, of which `Date.parse` makes a day in March. */
function timeOf(text: string): number {
  const day = text.slice(0, "2026-03-01".length);
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
  return isDay ? Date.parse(text) : Number.NaN;
}

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= limits.CRON_CHARS_MAX;

/** The broker reads them: `croner` and the time-zone data are there. */
const CRON: Kind<string> = kind(
  `a cron expression of up to ${limits.CRON_CHARS_MAX} characters`,
  { type: "string", minLength: 1, maxLength: limits.CRON_CHARS_MAX },
  isText,
);

const TIMEZONE: Kind<string> = kind(
  "the name of a time zone, such as Europe/Berlin",
  { type: "string", minLength: 1, maxLength: limits.CRON_CHARS_MAX },
  isText,
);

const PAYLOAD: Kind<unknown> = kind("anything that JSON can carry", {}, () => true);

/** They are read when a job is added, as those of any job. */
const OPTIONS: Kind<JobOptions> = kind("an object", JOB_SCHEMA, isObject);

export const SCHEDULE_OPTIONS = {
  cron: { kind: CRON, text: "A cron expression; five fields, or six with seconds first." },
  every: {
    kind: duration(1000),
    as: "everyMs",
    text: "An interval instead of `cron`: ticks at its multiples since `from`, or since 1970.",
  },
  at: {
    kind: list(MOMENT, limits.SCHEDULE_TIMES_MAX, 1),
    text: "The times themselves, instead of `cron`.",
  },
  timezone: {
    kind: TIMEZONE,
    reckoned: "UTC",
    text: "Whose local times `cron` means.",
  },
  payload: { kind: PAYLOAD, text: "The payload of each job, as JSON.", reckoned: "null" },
  options: {
    kind: OPTIONS,
    text: "The options of each job. Its fairness key is the schedule's name unless it has one.",
  },
  catchUp: {
    kind: oneOf<CatchUp>(["none", "one", "all"]),
    default: "one",
    text: "Which of the ticks run that fell due while no broker ran.",
  },
  catchUpWindow: {
    kind: duration(),
    as: "catchUpWindowMs",
    default: "24h",
    text: "How old a tick may be that `catchUp: all` runs.",
  },
  overlap: {
    kind: oneOf<Overlap>(["allow", "skip", "wait"]),
    default: "skip",
    text: "What a tick does while a job of an earlier one has not ended.",
  },
  jitter: {
    kind: duration(),
    as: "jitterMs",
    text: "Delays each tick by up to this long, always by the same.",
  },
  from: { kind: MOMENT, text: "No tick before this time." },
  until: { kind: MOMENT, text: "No tick after this time." },
  limit: {
    kind: integer(1, Number.MAX_SAFE_INTEGER),
    text: "The schedule is over after this many jobs.",
  },
  pauseOnFailure: {
    kind: FLAG,
    default: false,
    text: "Pauses the schedule when a job of it is dead, or fails for good.",
  },
} as const satisfies Fields;

export interface ScheduleOptions extends GivenFields<typeof SCHEDULE_OPTIONS> {}

/** As they are answered: times and durations are milliseconds. They can be set again. */
export interface ScheduleSettings extends AnsweredFields<typeof SCHEDULE_OPTIONS> {}

const SCHEDULE = fields(SCHEDULE_OPTIONS, (schedule, field) => {
  const { cron, everyMs, at, timezone } = schedule;
  const plans = Object.entries({ cron, every: everyMs, at });
  const given = plans.filter(([, plan]) => plan !== undefined).map(([name]) => name);
  if (given.length !== 1) {
    const found = given.length === 0 ? "none" : given.join(" and ");
    throw invalid(field, "an object with one of cron, every and at", found);
  }
  if (timezone !== undefined && cron === undefined) {
    throw invalid(`${field}.timezone`, `absent unless ${field}.cron is given`, timezone);
  }
});

export type ParsedSchedule = ReturnType<typeof SCHEDULE.parse>;

export const SCHEDULE_SCHEMA = SCHEDULE.schema;

export function parseSchedule(options: unknown): ParsedSchedule {
  return SCHEDULE.parse("schedule", options);
}

export function answerSchedule(schedule: ParsedSchedule): ScheduleSettings {
  return answerOf(SCHEDULE, schedule);
}

/** The start or the end of the time range of `backfill`. */
export const BACKFILL_TIME: Kind<number, Time | string, number> = MOMENT;
