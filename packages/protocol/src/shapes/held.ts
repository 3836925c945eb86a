/** What workers say of jobs that they hold: the items of batches. */
import type { Ack, Logged, Progress, StepInfo, StepName, StepResult, StepsInfo } from "../job.ts";
import type { Schema } from "../kinds.ts";
import * as held from "../options/held-options.ts";
import { RESULT, type ResultJson } from "./job.ts";
import {
  ANYTHING,
  about,
  COUNT,
  CURSOR,
  choice,
  FLAG,
  list,
  maybe,
  shape,
  TEXT,
  TIME,
} from "./schema.ts";

export const ACK: Schema = shape<Omit<Ack, "result"> & ResultJson>({ lease: TEXT, ...RESULT });

export const NACK: Schema = held.NACK.schema;

export const EXTEND: Schema = held.EXTEND.schema;

export const PROGRESS: Schema = {
  ...shape<Progress>({ lease: TEXT, progress: maybe(ANYTHING) }),
  required: ["lease", "progress"],
};

export const LOGGED: Schema = shape<Logged>({ lease: TEXT, lines: list(TEXT, { maxItems: 200 }) });

const KIND: Schema = choice(["run", "sleep", "wait"]);

export const STEP_RESULT: Schema = shape<StepResult>({
  lease: TEXT,
  name: TEXT,
  occurrence: about("How many steps of this name came before it in the same run.", COUNT),
  value: maybe(ANYTHING),
});

export const SUSPENSION: Schema = held.SUSPENSION.schema;

const STEP: Schema = shape<StepInfo>({
  name: TEXT,
  occurrence: COUNT,
  kind: KIND,
  at: TIME,
  isDone: FLAG,
  value: maybe(ANYTHING),
  isLate: maybe(about("No signal came in time.", FLAG)),
  failures: maybe(COUNT),
  error: maybe(TEXT),
});

export const STEPS: Schema = shape<StepsInfo>({
  items: list(STEP),
  cursor: maybe(CURSOR),
  pending: maybe(shape<StepName & { kind: string }>({ name: TEXT, occurrence: COUNT, kind: KIND })),
  signals: list(shape<StepsInfo["signals"][number]>({ name: TEXT, at: TIME })),
});
