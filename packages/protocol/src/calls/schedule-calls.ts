import type { Time } from "../duration.ts";
import { BACKFILL_TIME, type ScheduleOptions } from "../options/schedule-options.ts";
import type { Page } from "../queue.ts";
import type { ScheduleInfo, ScheduleRunNow } from "../schedule.ts";
import * as shapes from "../shapes/index.ts";
import { arg, call } from "./call.ts";
import { NAME_TEXT, PAGE, QUEUE, SCHEDULE, SCHEDULE_OPTIONS, text, told } from "./kinds.ts";
import type { OperationOptions, SchedulesOptions } from "./options.ts";

/** A schedule belongs to its queue, which names it: rights and partition are those of the queue. */
export const SCHEDULE_CALLS = {
  setSchedule: call<[queue: string, schedule: string, options: ScheduleOptions], ScheduleInfo>({
    says: "Creates a schedule of a queue, or replaces its options: what it has done stays.",
    about: "queue",
    args: [QUEUE, SCHEDULE, arg("options", SCHEDULE_OPTIONS)],
    may: "admin",
    repeat: "again",
    ids: "schedule",
    answer: shapes.SCHEDULE,
    http: { route: "PUT /v1/queues/:queue/schedules/:schedule", body: "options" },
  }),
  deleteSchedule: call<[queue: string, schedule: string], void>({
    says: "Deletes a schedule. Jobs that it has added stay.",
    about: "queue",
    args: [QUEUE, SCHEDULE],
    may: "admin",
    repeat: "again",
    http: "DELETE /v1/queues/:queue/schedules/:schedule",
  }),
  schedule: call<[queue: string, schedule: string], ScheduleInfo>({
    says: "Inspects a schedule: its options, its next ticks, its last tick and its last run.",
    about: "queue",
    args: [QUEUE, SCHEDULE],
    may: "any",
    repeat: "read",
    ids: "schedule",
    answer: shapes.SCHEDULE,
    http: "GET /v1/queues/:queue/schedules/:schedule",
  }),
  schedules: call<[], Page<ScheduleInfo>, SchedulesOptions>({
    says: "Lists schedules by queue and name, by page.",
    about: "broker",
    args: [],
    options: {
      ...PAGE,
      queue: told(NAME_TEXT, "Only those of this queue."),
      name: told(NAME_TEXT, "Only those of this name."),
      search: told(text(256), "Part of the name, in upper or lower case."),
    },
    may: "key",
    repeat: "read",
    ids: "schedules",
    answer: shapes.page(shapes.SCHEDULE),
    http: "GET /v1/schedules",
  }),
  pauseSchedule: call<[queue: string, schedule: string], void>({
    says: "Pauses a schedule: its ticks are skipped until it is resumed.",
    about: "queue",
    args: [QUEUE, SCHEDULE],
    may: "operate",
    repeat: "again",
    http: "POST /v1/queues/:queue/schedules/:schedule/pause",
  }),
  resumeSchedule: call<[queue: string, schedule: string], void>({
    says: "Resumes a schedule that is paused.",
    about: "queue",
    args: [QUEUE, SCHEDULE],
    may: "operate",
    repeat: "again",
    http: "POST /v1/queues/:queue/schedules/:schedule/resume",
  }),
  runSchedule: call<[queue: string, schedule: string], ScheduleRunNow, OperationOptions>({
    says: "Adds a job of a schedule now, beside its ticks.",
    about: "queue",
    args: [QUEUE, SCHEDULE],
    may: "produce",
    repeat: "once",
    ids: "one",
    answer: shapes.RUN_NOW,
    http: "POST /v1/queues/:queue/schedules/:schedule/run",
  }),
  backfillSchedule: call<
    [queue: string, schedule: string, from: Time | string, to: Time | string],
    number,
    OperationOptions
  >({
    says: "Adds a job for each tick of a range in the past, both ends included, 1,000 at most.",
    about: "queue",
    args: [QUEUE, SCHEDULE, arg("from", BACKFILL_TIME), arg("to", BACKFILL_TIME)],
    may: "admin",
    repeat: "once",
    answer: shapes.COUNT,
    http: { route: "POST /v1/queues/:queue/schedules/:schedule/backfill", field: "added" },
  }),
};
