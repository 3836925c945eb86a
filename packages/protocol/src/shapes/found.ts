import type { BulkInfo, FailureGroup, Failures, FoundJob, FoundJobs, JobCounts } from "../found.ts";
import type { Schema } from "../kinds.ts";
import { DEAD, JOB_STATE } from "./job.ts";
import {
  about,
  COUNT,
  choice,
  FAIRNESS_KEY,
  FLAG,
  list,
  maybe,
  NAME,
  shape,
  TEXT,
  TIME,
} from "./schema.ts";

const PROGRESS = {
  scanned: maybe(about("Of a scan: the jobs that it has passed.", COUNT)),
  total: maybe(about("Of a scan: the jobs that there are.", COUNT)),
} as const;

const FOUND_JOB: Schema = shape<FoundJob>({
  id: TEXT,
  queue: NAME,
  state: JOB_STATE,
  tier: COUNT,
  fairnessKey: FAIRNESS_KEY,
  attempt: COUNT,
  attempts: COUNT,
  addedAt: TIME,
  changedAt: about("When it came into its state, in milliseconds since 1970.", TIME),
  at: maybe(about("When it is due (delayed), its lease ends (running) or it ended.", TIME)),
  worker: maybe(TEXT),
  error: maybe(TEXT),
  dead: maybe(DEAD),
  group: maybe(TEXT),
  dedupe: maybe(TEXT),
  preview: about("How the payload begins, as text.", TEXT),
  payloadBytes: COUNT,
});

export const FOUND_JOBS: Schema = shape<FoundJobs>({
  items: list(FOUND_JOB),
  cursor: maybe(TEXT),
  ...PROGRESS,
});

export const JOB_COUNTS: Schema = shape<JobCounts>({
  count: COUNT,
  states: { type: "object", additionalProperties: COUNT },
  queues: list(shape<JobCounts["queues"][number]>({ queue: NAME, count: COUNT })),
  cursor: maybe(TEXT),
  ...PROGRESS,
});

const FAILURE: Schema = shape<FailureGroup>({
  id: about("What a filter names as `failure`.", TEXT),
  error: about("With `#` for each number or id.", TEXT),
  jobs: about("Jobs that are dead or failed.", COUNT),
  retrying: about("Jobs that have failed and are tried again.", COUNT),
  firstAt: TIME,
  lastAt: TIME,
  trend: about("Jobs by the hour in which they failed last; the last hour ends now.", list(COUNT)),
  queues: list(shape<FailureGroup["queues"][number]>({ queue: NAME, jobs: COUNT })),
  example: shape<FailureGroup["example"]>({
    id: TEXT,
    queue: NAME,
    error: TEXT,
    stack: maybe(TEXT),
    at: TIME,
  }),
});

export const FAILURES: Schema = shape<Failures>({ items: list(FAILURE), total: COUNT });

export const BULK: Schema = shape<BulkInfo>({
  id: TEXT,
  action: TEXT,
  filter: about("The jobs that are meant.", { type: "object" }),
  to: maybe(NAME),
  edited: maybe(about("Their payload was replaced.", FLAG)),
  state: choice(["running", "done", "stopped", "counted"]),
  matched: maybe(about("Jobs that were meant at the start; absent until it is known.", COUNT)),
  done: COUNT,
  refused: about("Jobs that it could not be done with.", COUNT),
  refusal: maybe(about("Why the first of them refused it.", TEXT)),
  startedAt: TIME,
  endedAt: maybe(TIME),
  by: maybe(TEXT),
});
