import type { QueueDeleted } from "../calls/options.ts";
import type { Schema } from "../kinds.ts";
import { QUEUE_SCHEMA } from "../options/queue-options.ts";
import type {
  HeldJob,
  LaneStats,
  QueueInfo,
  QueueStats,
  WorkerInfo,
  WorkerPlace,
} from "../queue.ts";
import {
  about,
  COUNT,
  FAIRNESS_KEY,
  FLAG,
  list,
  MS,
  maybe,
  NAME,
  NUMBER,
  shape,
  TEXT,
  TIME,
} from "./schema.ts";

const STATS: Schema = shape<QueueStats>({
  name: NAME,
  waiting: COUNT,
  delayed: COUNT,
  blocked: about("Jobs that wait for other jobs.", COUNT),
  running: COUNT,
  kept: about("Ended jobs that can still be asked for.", COUNT),
  bytes: COUNT,
  lanes: COUNT,
  perTier: list(
    shape<QueueStats["perTier"][number]>({ name: TEXT, waiting: COUNT, running: COUNT }),
  ),
  added: COUNT,
  dispatched: COUNT,
  finished: COUNT,
  failed: COUNT,
  retried: COUNT,
  expired: COUNT,
  cancelled: COUNT,
  dead: COUNT,
  redriven: COUNT,
  dropped: COUNT,
  rejected: COUNT,
  steps: about("Steps of jobs that are done.", COUNT),
  suspended: about("How often jobs were suspended.", COUNT),
  signals: about("Signals that were sent to jobs.", COUNT),
  freeWorkers: COUNT,
  paused: FLAG,
});

export const QUEUE: Schema = shape<QueueInfo>({ name: NAME, config: QUEUE_SCHEMA, stats: STATS });

export const DELETED: Schema = shape<QueueDeleted>({ lettersKept: COUNT, lettersDeleted: COUNT });

const SHARE: Schema = { type: "number", minimum: 0, maximum: 1 };

export const LANE: Schema = shape<LaneStats>({
  key: FAIRNESS_KEY,
  tier: COUNT,
  weight: NUMBER,
  waiting: COUNT,
  running: COUNT,
  received: NUMBER,
  wait: maybe(about("How long its last jobs waited once due, the mean; of the busiest lanes.", MS)),
  shareOwed: about("By its weight, among the lanes of its tier that wait.", SHARE),
  shareReceived: about("Of all that the lanes of its tier have received.", SHARE),
});

const WORKER_PLACE = shape<WorkerPlace>({
  host: TEXT,
  process: about("The number of its process.", NUMBER),
  version: about("Its version of Sluice.", TEXT),
});

const HELD_JOB = shape<HeldJob>({
  id: TEXT,
  attempt: COUNT,
  since: about("When it was dispatched.", TIME),
  expiresAt: about("When its lease ends.", TIME),
});

export const WORKER: Schema = shape<WorkerInfo>({
  name: TEXT,
  queue: NAME,
  free: about("Jobs it would take now.", COUNT),
  running: COUNT,
  place: maybe(WORKER_PLACE),
  since: maybe(about("When it connected.", TIME)),
  jobs: maybe(about("Those that it has held longest first, if asked for.", list(HELD_JOB))),
});
