/** What workers say of jobs that they hold: the items of batches. */
import type { Ack, Extend, Nack, Progress } from "../job.ts";
import type { Schema } from "../kinds.ts";
import { RESULT, type ResultJson } from "./job.ts";
import { ANYTHING, about, FLAG, list, MS, maybe, shape, TEXT } from "./schema.ts";

export const ACK: Schema = shape<Omit<Ack, "result"> & ResultJson>({ lease: TEXT, ...RESULT });

/** A server sets `mayCool` by the key of the caller. */
export const NACK: Schema = shape<Omit<Nack, "mayCool">>({
  lease: TEXT,
  error: maybe(TEXT),
  stack: maybe(about("Kept with the job, up to 4 KiB.", TEXT)),
  delayMs: maybe(MS),
  cooldown: maybe(
    shape<NonNullable<Nack["cooldown"]>>({ gate: TEXT, ms: MS, reason: maybe(TEXT) }),
  ),
  blame: maybe({ anyOf: [list(TEXT), { type: "boolean", const: false }] }),
  unrecoverable: maybe(FLAG),
});

export const EXTEND: Schema = shape<Extend>({ lease: TEXT, leaseMs: { ...MS, minimum: 1 } });

export const PROGRESS: Schema = {
  ...shape<Progress>({ lease: TEXT, progress: maybe(ANYTHING) }),
  required: ["lease", "progress"],
};
