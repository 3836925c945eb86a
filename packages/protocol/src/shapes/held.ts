/** What workers say of jobs that they hold: the items of batches. */
import type { Ack, Progress } from "../job.ts";
import type { Schema } from "../kinds.ts";
import * as held from "../options/held-options.ts";
import { RESULT, type ResultJson } from "./job.ts";
import { ANYTHING, maybe, shape, TEXT } from "./schema.ts";

export const ACK: Schema = shape<Omit<Ack, "result"> & ResultJson>({ lease: TEXT, ...RESULT });

export const NACK: Schema = held.NACK.schema;

export const EXTEND: Schema = held.EXTEND.schema;

export const PROGRESS: Schema = {
  ...shape<Progress>({ lease: TEXT, progress: maybe(ANYTHING) }),
  required: ["lease", "progress"],
};
