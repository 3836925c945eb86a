/** What a worker tells about a job that it holds. */
import type { Duration } from "../duration.ts";
import { duration, LEASE } from "../duration.ts";
import { type Fields, fields } from "../fields.ts";
import { FLAG, type Kind, kind, TEXT } from "../kinds.ts";

const BLAME: Kind<readonly string[] | false> = kind(
  "an array of gates, or false",
  {
    anyOf: [
      { type: "array", items: { type: "string" } },
      { type: "boolean", const: false },
    ],
  },
  (value) => value === false || Array.isArray(value),
);

const COOLDOWN_OPTIONS = {
  gate: { kind: TEXT, isRequired: true, text: "The gate to close." },
  duration: { kind: duration(), as: "ms", isRequired: true, text: "For how long." },
  reason: { kind: TEXT, text: "Why, in a line that is shown beside the gate." },
} as const satisfies Fields;

const LEASE_TOKEN = { kind: TEXT, isRequired: true, text: "The token of the lease." } as const;

const NACK_OPTIONS = {
  lease: LEASE_TOKEN,
  error: { kind: TEXT, text: "What went wrong." },
  stack: { kind: TEXT, text: "Where it was thrown; 4 KiB of it are kept with the job." },
  delay: { kind: duration(), as: "delayMs", text: "When to retry, instead of the backoff." },
  cooldown: { kind: fields(COOLDOWN_OPTIONS), text: "Closes a gate; this uses no attempt." },
  blame: { kind: BLAME, text: "The gates whose ladders count the failure; false for none." },
  unrecoverable: { kind: FLAG, text: "The job is not retried." },
} as const satisfies Fields;

/** A failure as HTTP carries it. */
export const NACK = fields(NACK_OPTIONS);

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
