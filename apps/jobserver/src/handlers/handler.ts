/** What a job of one type does. */

export interface JobContext {
  /** Aborts when the job is cancelled, out of time, or the server stops. */
  readonly signal: AbortSignal;
  readonly uid: string;
  readonly workerId: string | undefined;
  /** Shown with the job's status while it runs. */
  progress(value: unknown): Promise<void>;
}

/** Takes a job's arguments; what it answers, or throws, is the job's result. */
export type JobHandler = (args: unknown, context: JobContext) => unknown;

export type JobHandlers = Readonly<Record<string, JobHandler>>;
