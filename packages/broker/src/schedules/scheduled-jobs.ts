/** What a schedule carries for the broker, and the jobs that are made of it. */
import type { JobSpec, ScheduleView } from "@sluice/engine";
import { type NewJob, type ParsedSchedule, readJob, underField } from "@sluice/protocol";
import { SCHEDULE_PAYLOAD_BYTES_MAX } from "../limits.ts";
import { specOf } from "../new-jobs.ts";
import { Plan } from "./plan.ts";

/** The options of a schedule, with its payload as its jobs have it. */
export interface Carried extends Omit<ParsedSchedule, "payload"> {
  readonly payload: Uint8Array;
}

export function keyOf(queue: string, name: string): string {
  return `${queue}/${name}`;
}

export function queueOfKey(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

export function nameOfKey(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

/** What errors call the options of its jobs. */
const OPTIONS = "schedule.options";

interface Ready {
  readonly plan: Plan;
  readonly job: NewJob;
}

/**
 * What is made of a schedule's options hangs on them, unseen by the log. A `WeakMap` of 100,000 of
 * them made each major garbage collection longer.
 */
const READY = Symbol("ready");

function readyOf(key: string, carried: Carried & { [READY]?: Ready }): Ready {
  const known = carried[READY];
  if (known !== undefined) return known;
  const job: NewJob = { payload: carried.payload };
  underField(OPTIONS, () => readJob(job, carried.options ?? {}));
  job.fairnessKey ??= nameOfKey(key);
  const made = { plan: new Plan(key, carried), job };
  carried[READY] = made;
  return made;
}

export function planOf({ key, config }: Pick<ScheduleView, "key" | "config">): Plan {
  return readyOf(key, config.carried as Carried).plan;
}

/** The job of a tick: headers say which one it is. */
export function jobOf(
  { key, config }: Pick<ScheduleView, "key" | "config">,
  tick: number,
): JobSpec {
  const { job } = readyOf(key, config.carried as Carried);
  const headers = {
    ...job.headers,
    "sluice-schedule": nameOfKey(key),
    "sluice-tick": new Date(tick).toISOString(),
  };
  const made = { ...job, headers };
  return underField(OPTIONS, () => specOf(made, config.queue, SCHEDULE_PAYLOAD_BYTES_MAX));
}
