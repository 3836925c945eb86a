/** What a worker tells about a job that it holds. */
import type { Duration } from "../duration.ts";
import { duration, LEASE } from "../duration.ts";
import { type Fields, fields } from "../fields.ts";
import { checkParsed, FLAG, type Kind, list, NAME, TEXT } from "../kinds.ts";
import { JOB_GATES_MAX } from "../limits.ts";

const BLAMED = list(NAME, JOB_GATES_MAX);

const BLAME: Kind<readonly string[] | false> = {
  words: `false or at most ${JOB_GATES_MAX} gates`,
  schema: { anyOf: [BLAMED.schema, { type: "boolean", const: false }] },
  parse: (field, value) => (value === false ? value : BLAMED.parse(field, value)),
  check(field, value) {
    if (value !== false) checkParsed(BLAMED, field, value);
  },
};

const COOLDOWN_OPTIONS = {
  gate: { kind: NAME, isRequired: true, text: "The gate to close." },
  duration: { kind: duration(), as: "ms", isRequired: true, text: "For how long." },
  reason: { kind: TEXT, text: "Why, in a line that is shown beside the gate." },
} as const satisfies Fields;

const FAILURE_OPTIONS = {
  error: { kind: TEXT, text: "What went wrong." },
  stack: { kind: TEXT, text: "Where it was thrown; 4 KiB of it are kept with the job." },
  delay: { kind: duration(), as: "delayMs", text: "When to retry, instead of the backoff." },
  cooldown: { kind: fields(COOLDOWN_OPTIONS), text: "Closes a gate; this uses no attempt." },
  blame: { kind: BLAME, text: "The gates whose ladders count the failure; false for none." },
  unrecoverable: { kind: FLAG, text: "The job is not retried." },
} as const satisfies Fields;

const FAILURE = fields(FAILURE_OPTIONS);

/** Refuses what a failure cannot mean, in the form of the port. */
export function checkFailure(said: object): void {
  checkParsed(FAILURE, "nack", said);
}

const LEASE_TOKEN = { kind: TEXT, isRequired: true, text: "The token of the lease." } as const;

/** A failure as HTTP carries it. */
export const NACK = fields({ lease: LEASE_TOKEN, ...FAILURE_OPTIONS } as const);

/** How long a lease lasts from now. */
export const EXTEND = fields({
  lease: LEASE_TOKEN,
  duration: {
    kind: LEASE as Kind<number, Duration>,
    as: "leaseMs",
    isRequired: true,
    text: "How long the lease lasts from now.",
  },
} as const satisfies Fields);
