import type { JobJson } from "../http.ts";
import {
  type Added,
  type AttemptInfo,
  type GroupInfo,
  type HistoryEntry,
  JOB_STATES,
  type JobEnd,
  type JobLife,
  type LeasedJob,
  type LogLine,
} from "../job.ts";
import type { Schema } from "../kinds.ts";
import { JOB_SCHEMA } from "../options/job-options.ts";
import type { Why } from "../why.ts";
import {
  ANYTHING,
  about,
  BASE64,
  COUNT,
  choice,
  FAIRNESS_KEY,
  type Fields,
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

export const JOB_STATE: Schema = choice(JOB_STATES);

const HEADERS: Schema = { type: "object", additionalProperties: TEXT };

/** Bytes as HTTP carries them: as JSON where they are JSON. */
interface PayloadJson {
  payload?: unknown;
  payloadBase64?: string;
}

export type ResultJson = Pick<JobJson, "result" | "resultBase64">;

const PAYLOAD: Fields<PayloadJson> = {
  payload: maybe(ANYTHING),
  payloadBase64: maybe(about("Instead of `payload`, for bytes that are not JSON.", BASE64)),
};

export const RESULT: Fields<ResultJson> = { result: maybe(ANYTHING), resultBase64: maybe(BASE64) };

/** A new job: its payload and its options. */
export const NEW_JOB: Schema = {
  ...shape<PayloadJson>(PAYLOAD),
  properties: {
    ...(shape<PayloadJson>(PAYLOAD).properties as object),
    ...(JOB_SCHEMA.properties as object),
  },
};

export const ADDED: Schema = shape<Partial<Added>>({
  id: maybe(TEXT),
  tier: maybe(COUNT),
  duplicate: maybe(about("There was a job with its dedupe key: this is its id.", FLAG)),
  dropped: maybe(about("The queue is full and drops new jobs.", FLAG)),
});

export const LEASED: Schema = shape<Omit<LeasedJob, "payload"> & PayloadJson>({
  id: TEXT,
  lease: about("The token under which the job is held.", TEXT),
  queue: NAME,
  attempt: { type: "integer", description: "0 on the first delivery." },
  attempts: COUNT,
  deliveries: about("How often it was handed out, this time included.", COUNT),
  hasSteps: maybe(about("It has recorded steps, or was suspended for one.", FLAG)),
  tier: COUNT,
  fairnessKey: FAIRNESS_KEY,
  addedAt: TIME,
  expiresAt: TIME,
  expiresIn: MS,
  headers: HEADERS,
  ...PAYLOAD,
});

export const DEAD: Schema = about(
  "A dead letter: the queue it came from, why and when it died, its attempts there.",
  shape<NonNullable<JobJson["dead"]>>({ origin: NAME, reason: TEXT, attempts: COUNT, at: TIME }),
);

export const JOB: Schema = shape<JobJson>({
  id: TEXT,
  queue: NAME,
  state: JOB_STATE,
  tier: COUNT,
  fairnessKey: FAIRNESS_KEY,
  weight: NUMBER,
  gates: list(TEXT),
  cost: NUMBER,
  attempt: COUNT,
  attempts: COUNT,
  deliveries: COUNT,
  addedAt: TIME,
  at: maybe(about("When it is due (delayed), its lease ends (running) or it ended.", TIME)),
  deadline: maybe(TIME),
  waitsFor: maybe(about("Jobs that it waits for and that have not ended.", COUNT)),
  error: maybe(TEXT),
  stack: maybe(about("Where the last error was thrown.", TEXT)),
  group: maybe(TEXT),
  dedupe: maybe(TEXT),
  schedule: maybe(shape<NonNullable<JobJson["schedule"]>>({ name: NAME, tick: TIME })),
  dead: maybe(DEAD),
  worker: maybe(TEXT),
  progress: maybe(ANYTHING),
  steps: maybe(about("Steps that are done.", COUNT)),
  headers: HEADERS,
  ...PAYLOAD,
  payloadBytes: COUNT,
  payloadStart: maybe(about("Instead of one that is too long: how it begins.", TEXT)),
  payloadStartBase64: maybe(BASE64),
  ...RESULT,
  resultBytes: maybe(COUNT),
  resultStart: maybe(TEXT),
  resultStartBase64: maybe(BASE64),
});

export const WHY: Schema = about(
  "In words and data: what keeps the job, and until when.",
  shape<Why>({
    state: JOB_STATE,
    text: TEXT,
    asOf: TIME,
    reason: maybe(TEXT),
    queue: maybe(TEXT),
    place: maybe(COUNT),
    ahead: maybe(about("In an ordered lane: the job that must end first.", TEXT)),
    urgent: maybe(COUNT),
    workers: maybe(COUNT),
    running: maybe(COUNT),
    gate: maybe(TEXT),
    part: maybe(TEXT),
    until: maybe(TIME),
    lanes: maybe(COUNT),
    shutBy: maybe(TEXT),
    cooldownReason: maybe(TEXT),
    first: maybe({ type: "object" }),
    holders: maybe({ type: "object" }),
    keptFor: maybe({ type: "object" }),
    dead: maybe({ type: "object" }),
    cause: maybe(TEXT),
    step: maybe(about("The step that it waits for, or the signal.", TEXT)),
    attempt: maybe(COUNT),
    attempts: maybe(COUNT),
    waiting: maybe(COUNT),
    open: maybe(COUNT),
    for: maybe({ type: "object" }),
    flow: maybe(TEXT),
    worker: maybe(TEXT),
    at: maybe(TIME),
    deadline: maybe(TIME),
    error: maybe(TEXT),
  }),
);

export const LIFE: Schema = shape<JobLife>({
  log: about("The random identity of the log that holds the job.", TEXT),
  generation: maybe(
    about("How often it died, was redriven or was retried after its end.", { type: "integer" }),
  ),
  isEnded: FLAG,
});

export const LOG_LINE: Schema = shape<LogLine>({ at: TIME, text: TEXT });

export const ATTEMPT: Schema = shape<AttemptInfo>({
  lease: about("The count of the delivery.", COUNT),
  worker: maybe(TEXT),
  startedAt: TIME,
  endedAt: maybe(TIME),
  outcome: maybe(about("The event that ended it, or the state in which the job ended.", TEXT)),
  error: maybe(TEXT),
});

export const HISTORY_ENTRY: Schema = shape<HistoryEntry>({
  at: TIME,
  event: TEXT,
  detail: maybe(TEXT),
});

/** What a wait for the end of a job answers; without a `state` when it has not ended in time. */
export const END: Schema = shape<Partial<Omit<JobEnd, "id" | "result">> & EndJson & ResultJson>({
  ended: about("False: it had not ended in time. Ask again.", FLAG),
  id: TEXT,
  queue: maybe(TEXT),
  state: maybe(JOB_STATE),
  at: maybe(TIME),
  error: maybe(TEXT),
  ...RESULT,
  waited: maybe(
    shape<NonNullable<JobEnd["waited"]>>({ gate: TEXT, wait: NUMBER, maxWait: NUMBER }),
  ),
});

interface EndJson {
  id: string;
  ended: boolean;
}

export const GROUP_INFO: Schema = shape<GroupInfo>({
  id: TEXT,
  ended: FLAG,
  members: list(shape<GroupInfo["members"][number]>({ id: TEXT, state: maybe(JOB_STATE) })),
});
