/** What a worker tells about a job that it holds. */
import type { Duration } from "../duration.ts";
import { duration, LEASE, TIME } from "../duration.ts";
import { type Fields, fields } from "../fields.ts";
import { bytes, checkParsed, FLAG, integer, type Kind, list, NAME, oneOf, TEXT } from "../kinds.ts";
import {
  ATTEMPTS_MAX,
  COST_MAX,
  JOB_GATES_MAX,
  STEP_NAME_BYTES_MAX,
  STEPS_MAX,
} from "../limits.ts";

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

/** A step is named by a text of its handler, and not by a name of the broker. */
export const STEP_NAME: Kind<string> = bytes(STEP_NAME_BYTES_MAX);

const STEP_OPTIONS = {
  lease: LEASE_TOKEN,
  name: { kind: STEP_NAME, isRequired: true, text: "The name of the step." },
  occurrence: {
    kind: integer(0, STEPS_MAX - 1),
    default: 0,
    text: "How many steps of this name came before it in the same run.",
  },
} as const satisfies Fields;

const SUSPENSION_OPTIONS = {
  ...STEP_OPTIONS,
  kind: {
    kind: oneOf(["run", "sleep", "wait"]),
    isRequired: true,
    text: "`sleep` and `wait` (for a signal of this name) are done when they are over.",
  },
  delay: {
    kind: duration(),
    as: "delayMs",
    text: "How long it sleeps, waits at the longest, or until a failed step is retried.",
  },
  runAt: { kind: TIME, text: "Until when, instead of a delay." },
  gates: { kind: BLAMED, text: "Gates of the step, in addition to those of the job." },
  cost: { kind: integer(1, COST_MAX), text: "What the step takes from all gates of the job." },
  failures: {
    kind: integer(0, ATTEMPTS_MAX),
    text: "How often the step has failed by now.",
  },
  error: { kind: TEXT, text: "What went wrong." },
} as const satisfies Fields;

/** The step that a leased job waits for, as HTTP carries it. */
export const SUSPENSION = fields(SUSPENSION_OPTIONS);

/** Refuses an invalid step, in the form of the port. */
export function checkSuspension(said: object): void {
  checkParsed(SUSPENSION, "suspend", said);
}

export function checkStepName(name: unknown, occurrence: unknown): void {
  STEP_NAME.parse("name", name);
  STEP_OPTIONS.occurrence.kind.parse("occurrence", occurrence);
}

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
