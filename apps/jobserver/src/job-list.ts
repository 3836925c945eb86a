/** Jobs listed by submitter, status and time. */
import { type JobDetails, type Queue, SluiceError } from "sluice";
import { LIST_LIMIT } from "./limits.ts";
import { errorOf, nameOf, type Status } from "./status.ts";
import type { Submission } from "./submission.ts";

export interface JobFilter {
  readonly worker_id?: string | undefined;
  readonly status?: Status | undefined;
  /** When they were submitted, in milliseconds. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ListedJob {
  readonly uid: string;
  readonly type: string;
  readonly worker_id: string | null;
  readonly status: Status;
  readonly queue: string;
  readonly queued_at: string;
  readonly finished_at: string | null;
  readonly error?: string;
}

export interface JobPage {
  /** The latest first. */
  readonly jobs: readonly ListedJob[];
  /** For the next page; absent: this was the last. */
  readonly cursor?: string;
}

type Details = JobDetails<Submission, unknown>;

/** The state that a status is found in. */
const STATES: Readonly<Record<Status, Details["state"]>> = {
  queued: "waiting",
  running: "running",
  succeeded: "finished",
  failed: "failed",
  timeout: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

export const STATUSES = Object.keys(STATES) as readonly Status[];

export interface ListParts {
  readonly queue: Queue<Submission, unknown>;
  readonly uidOf: (id: string) => string;
  readonly tierName: (place: number) => string;
}

/** Looks through all jobs of the submitter, or of the state, and keeps one page of them. */
export async function listJobs(parts: ListParts, filter: JobFilter): Promise<JobPage> {
  const { worker_id, status, since = 0, until = Infinity, limit = LIST_LIMIT } = filter;
  const before = filter.cursor === undefined ? undefined : parseCursor(filter.cursor);
  const found: Details[] = [];
  let isMore = false;
  const jobs = parts.queue.jobs({
    ...(status === undefined ? {} : { state: STATES[status] }),
    ...(worker_id === undefined ? {} : { lane: worker_id }),
  });
  for await (const job of jobs) {
    if (job.addedAt < since || job.addedAt > until) continue;
    if (status !== undefined && nameOf(job) !== status) continue;
    if (before !== undefined && compare(job, before) >= 0) continue;
    found.push(job);
    if (found.length < 2 * limit) continue;
    found.sort((a, b) => compare(b, a)).length = limit;
    isMore = true;
  }
  found.sort((a, b) => compare(b, a));
  isMore ||= found.length > limit;
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    jobs: page.map((job) => listed(job, parts)),
    ...(isMore && last !== undefined ? { cursor: `${last.addedAt}-${last.id}` } : {}),
  };
}

interface Place {
  readonly addedAt: number;
  readonly id: string;
}

/** Ids are made in the order of the adds; longer ones are later. */
function compare(a: Place, b: Place): number {
  return a.addedAt - b.addedAt || a.id.length - b.id.length || (a.id < b.id ? -1 : +(a.id > b.id));
}

function parseCursor(cursor: string): Place {
  const [, digits, id] = /^(\d{1,15})-([0-9a-z]{1,12})$/.exec(cursor) ?? [];
  if (id !== undefined) return { addedAt: Number(digits), id };
  const details = { field: "cursor", value: cursor };
  throw new SluiceError("INVALID", "cursor must be the cursor of the previous page", details);
}

function listed(job: Details, { uidOf, tierName }: ListParts): ListedJob {
  const { id, payload, tier, addedAt, at } = job;
  const status = nameOf(job);
  const isOver = status !== "queued" && status !== "running";
  const error = errorOf(job);
  return {
    uid: uidOf(id),
    type: payload.type,
    worker_id: payload.workerId ?? null,
    status,
    queue: tierName(tier),
    queued_at: new Date(addedAt).toISOString(),
    finished_at: isOver && at !== undefined ? new Date(at).toISOString() : null,
    ...(error === undefined ? {} : { error }),
  };
}
