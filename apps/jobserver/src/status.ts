/** The status of a job, in the words of this server. */
import type { HistoryEntry, Job, JobDetails } from "sluice";
import { TIMEOUT_NAME } from "./run.ts";
import type { Submission } from "./submission.ts";

export type Status =
  | "queued"
  | "running"
  | "succeeded"
  | "failed"
  | "timeout"
  | "cancelled"
  | "expired";

export interface JobStatus {
  readonly status: Status;
  /** Among the jobs of its submitter that wait in its tier: 1 is next. */
  readonly position?: number;
  readonly attempts: number;
  readonly progress?: unknown;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly error?: string;
}

export async function statusOf(job: Job<Submission, unknown>): Promise<JobStatus> {
  const [info, history] = await Promise.all([job.info(), job.history()]);
  const status = nameOf(info);
  const position = status === "queued" ? await positionOf(job) : undefined;
  const error = errorOf(info);
  const isOver = status !== "queued" && status !== "running";
  const started = history.findLast(({ event }: HistoryEntry) => event === "dispatched");
  return {
    status,
    ...(position === undefined ? {} : { position }),
    attempts: started === undefined ? info.attempt : info.attempt + 1,
    ...(info.progress === undefined ? {} : { progress: info.progress }),
    queued_at: timeOf(info.addedAt),
    started_at: started === undefined ? null : timeOf(started.at),
    finished_at: isOver && info.at !== undefined ? timeOf(info.at) : null,
    ...(error === undefined ? {} : { error }),
  };
}

/** Undefined when the job does not wait any more. */
export async function positionOf(job: Job<Submission, unknown>): Promise<number | undefined> {
  const why = await job.why();
  return why.state === "waiting" ? why.place + 1 : undefined;
}

export function nameOf({ state, error }: JobDetails<Submission, unknown>): Status {
  switch (state) {
    case "waiting":
    case "delayed":
    case "blocked":
      return "queued";
    case "running":
      return state;
    case "finished":
      return "succeeded";
    case "cancelled":
    case "expired":
      return state;
    default:
      return error?.startsWith(`${TIMEOUT_NAME}:`) === true ? "timeout" : "failed";
  }
}

/** What an attempt before the last one failed with is no error of a job that came through. */
export function errorOf(info: JobDetails<Submission, unknown>): string | undefined {
  return info.state === "finished" ? undefined : info.error;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
