import {
  BULK_ACTIONS,
  type BulkAction,
  type BulkInfo,
  type Failures,
  type FoundJobs,
  JOB_ORDERS,
  JOB_TIMES,
  type JobCounts,
  type JobFilter,
} from "../found.ts";
import { JOB_STATES, type JobState } from "../job.ts";
import { integer, invalid, isObject, type Kind, list, number, unknownField } from "../kinds.ts";
import * as shapes from "../shapes/index.ts";
import { arg, call } from "./call.ts";
import {
  ANYTHING,
  FAIRNESS_KEY,
  FLAG,
  NAME_TEXT,
  oneOf,
  PAGE,
  TEXTS,
  text,
  told,
} from "./kinds.ts";
import type { BulkOptions, CountOptions, FailuresOptions, FindOptions } from "./options.ts";

const TIME = number(0, 8.64e15);

/** From a query or a command line: one state, or several with commas. */
const STATES: Kind<readonly JobState[]> = {
  ...list(oneOf(JOB_STATES), JOB_STATES.length),
  fromText: (value) => value.split(",") as JobState[],
};

const QUEUES = told(TEXTS, "Names of queues, or prefixes that end in `*`.");

/** What a filter can be given: the options of the calls that look for jobs. */
const FILTER_KINDS = {
  ids: told(TEXTS, "Only these jobs."),
  queues: QUEUES,
  states: told(STATES, "Only jobs in these states."),
  lane: told(FAIRNESS_KEY, "Only jobs with this fairness key; a path is a list of texts."),
  origin: told(NAME_TEXT, "Only dead letters that came from this queue."),
  time: told(oneOf(JOB_TIMES), "What `since`, `until` and the order mean; default `added`."),
  since: told(TIME, "Not before this time, in milliseconds since 1970."),
  until: told(TIME, "Not after this time, in milliseconds since 1970."),
  error: told(text(1024), "Part of the last error, in upper or lower case."),
  failure: told(text(32), "Only jobs of this group of `failures`."),
  gate: told(text(256), "Only jobs that name this gate."),
  group: told(text(512), "Only members of this group, in full: `orders/batch-7`."),
  attempts: told(integer(1, 0xffff), "At least so many attempts were used."),
  header: told(text(1024), "A header that the job has: `name`, or `name=value`."),
  text: told(text(1024, 1), "Part of the payload: payloads are scanned, some at a time."),
} as const;

const FILTER_NAMES = Object.keys(FILTER_KINDS);

/** A filter as one value. */
const FILTER: Kind<JobFilter> = {
  words: "an object",
  schema: {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(FILTER_KINDS).map(([name, { schema }]) => [name, schema]),
    ),
    additionalProperties: false,
  },
  parse(field, value) {
    if (!isObject(value)) throw invalid(field, "an object", value);
    for (const [name, given] of Object.entries(value)) {
      const of = FILTER_KINDS[name as keyof typeof FILTER_KINDS] as Kind | undefined;
      if (of === undefined) throw unknownField(`${field}.${name}`, FILTER_NAMES, given);
      if (given !== undefined) of.parse(`${field}.${name}`, given);
    }
    return value as JobFilter;
  },
};

const BULK = arg("id", text(64, 1));

/** Calls that look for jobs in all queues. */
export const FIND_CALLS = {
  findJobs: call<[], FoundJobs, FindOptions>({
    says:
      "Finds jobs of all queues, sorted by time, by page. With `text` or `header` the jobs are " +
      "scanned: a page has what was found so far, and `scanned` of `total` says how far it is.",
    about: "broker",
    args: [],
    options: {
      ...PAGE,
      order: told(oneOf(JOB_ORDERS), "Which come first; default `newest`."),
      ...FILTER_KINDS,
    },
    may: "key",
    repeat: "read",
    ids: "items",
    answer: shapes.FOUND_JOBS,
    http: "GET /v1/jobs",
  }),
  countJobs: call<[], JobCounts, CountOptions>({
    says:
      "Counts jobs of all queues. With `text` or `header` it counts those since the cursor: " +
      "add up the counts until an answer has no cursor.",
    about: "broker",
    args: [],
    options: { cursor: PAGE.cursor, ...FILTER_KINDS },
    may: "key",
    repeat: "read",
    answer: shapes.JOB_COUNTS,
    http: "GET /v1/job-counts",
  }),
  failures: call<[], Failures, FailuresOptions>({
    says: "Groups the jobs that have failed by their errors, with numbers and ids folded.",
    about: "broker",
    args: [],
    options: {
      limit: PAGE.limit,
      queues: QUEUES,
      since: told(TIME, "Only jobs that failed after this time, in milliseconds since 1970."),
    },
    may: "key",
    repeat: "read",
    ids: "failures",
    answer: shapes.FAILURES,
    http: "GET /v1/failures",
  }),
  startBulk: call<[action: BulkAction, filter: JobFilter], BulkInfo, BulkOptions>({
    says:
      "Starts an action on all jobs that a filter means now. It continues by itself, in small " +
      "steps, also after a restart, and does each job once; `bulk` tells how far it is.",
    about: "broker",
    args: [
      arg(
        "action",
        told(oneOf(BULK_ACTIONS), "`run` makes delayed jobs due; `retry` returns dead letters."),
      ),
      arg(
        "filter",
        told(
          FILTER,
          "Without `states` and `ids`: the states that the action is for. `retry` and `delete` " +
            "mean dead and failed jobs, and `cancel` those that have not ended.",
        ),
      ),
    ],
    options: {
      to: told(NAME_TEXT, "The queue that the jobs go to, for `move` and `retry`."),
      payload: told(ANYTHING, "With `retry`: JSON that replaces the payload of each job."),
      dryRun: told(FLAG, "Only counts the jobs."),
      by: told(text(256), "Who does it; a server with keys fills it in."),
    },
    may: "key",
    repeat: "once",
    answer: shapes.BULK,
    http: "POST /v1/bulk",
  }),
  bulk: call<[id: string], BulkInfo>({
    says: "Tells how far an action on many jobs is.",
    about: "broker",
    args: [BULK],
    may: "key",
    repeat: "read",
    answer: shapes.BULK,
    http: "GET /v1/bulk/:id",
  }),
  bulks: call<[], readonly BulkInfo[]>({
    says: "Lists the last 100 actions on many jobs, the newest first.",
    about: "broker",
    args: [],
    may: "key",
    repeat: "read",
    answer: shapes.list(shapes.BULK),
    http: "GET /v1/bulk",
  }),
  stopBulk: call<[id: string], BulkInfo>({
    says: "Stops an action on many jobs. What it has done stays done.",
    about: "broker",
    args: [BULK],
    may: "key",
    repeat: "again",
    answer: shapes.BULK,
    http: "POST /v1/bulk/:id/stop",
  }),
};
