/** The limits of a gate. Each is optional; a job passes when all limits of all its gates do. */
import type { GateConfig } from "@sluice/engine";
import { type Duration, duration } from "../duration.ts";
import { type AnsweredFields, type Fields, fields, type GivenFields } from "../fields.ts";
import {
  answerOf,
  bytes,
  integer,
  invalid,
  isObject,
  type Kind,
  kind,
  list,
  number,
  oneOf,
} from "../kinds.ts";
import * as limits from "../limits.ts";
import { A_NAME, isName, isNamePart } from "../names.ts";

const RATE: Kind<number> = kind(
  `0 or a number of tokens a second from ${limits.RATE_MIN} to ${limits.RATE_MAX}`,
  { type: "number", minimum: 0, maximum: limits.RATE_MAX },
  (rate) => rate === 0 || (typeof rate === "number" && isRate(rate)),
);

function isRate(rate: number): boolean {
  return rate >= limits.RATE_MIN && rate <= limits.RATE_MAX;
}

const INTERVAL_OPTIONS = {
  every: { kind: duration(), as: "ms", isRequired: true, text: "Time between two jobs." },
  from: {
    kind: oneOf(["start", "end"]),
    default: "end",
    text: "Counts from the start of the previous job, or from its end: then one runs at a time.",
  },
  factors: {
    kind: list(number(0, limits.FACTOR_MAX), limits.TIERS_MAX, 1),
    text: "A multiplier for each tier; tiers beyond the list use the last.",
  },
  floor: { kind: duration(), as: "floorMs", text: "No tier waits less than this." },
} as const satisfies Fields;

const INTERVAL_FIELDS = fields(INTERVAL_OPTIONS);

export interface IntervalOptions extends GivenFields<typeof INTERVAL_OPTIONS> {}

/** `"5s"` is short for `{ every: "5s" }`. */
const INTERVAL: Kind<
  NonNullable<GateConfig["interval"]>,
  Duration | IntervalOptions,
  AnsweredFields<typeof INTERVAL_OPTIONS>
> = {
  ...INTERVAL_FIELDS,
  words: `a duration, or ${INTERVAL_FIELDS.words}`,
  schema: { anyOf: [INTERVAL_OPTIONS.every.kind.schema, INTERVAL_FIELDS.schema] },
  parse: (field, value) =>
    isObject(value)
      ? INTERVAL_FIELDS.parse(field, value)
      : { ms: INTERVAL_OPTIONS.every.kind.parse(field, value), from: "end" },
};

const WINDOW_OPTIONS = {
  limit: { kind: integer(1, limits.WINDOW_LIMIT_MAX), isRequired: true, text: "Jobs that pass." },
  per: { kind: duration(1), as: "perMs", isRequired: true, text: "In any span of this length." },
} as const satisfies Fields;

export const GATE_OPTIONS = {
  rate: { kind: RATE, text: "Tokens a second; 0 closes the gate." },
  burst: {
    kind: number(1, limits.BURST_MAX),
    reckoned: "the larger of 1 and `rate`",
    text: "Tokens that gather while no job passes; only with `rate`.",
  },
  interval: { kind: INTERVAL, text: "Time between two jobs." },
  windows: {
    kind: list(fields(WINDOW_OPTIONS), limits.WINDOWS_MAX),
    text: "Sliding windows, each with its own limit.",
  },
  concurrency: { kind: integer(1, limits.CONCURRENCY_MAX), text: "Jobs that run at once." },
  ladder: {
    kind: list(duration(1), limits.LADDER_RUNGS_MAX),
    text: "Cooldowns for one, two, three failures in a row; a success steps back by one.",
  },
} as const satisfies Fields;

export interface GateOptions extends GivenFields<typeof GATE_OPTIONS> {}

/** The limits as they are answered: durations are milliseconds. They can be set again. */
export interface GateSettings extends AnsweredFields<typeof GATE_OPTIONS> {}

const GATE = fields(GATE_OPTIONS, (gate, field) => {
  if (gate.burst !== undefined && gate.rate === undefined) {
    throw invalid(`${field}.burst`, `absent unless ${field}.rate is given`, gate.burst);
  }
  if (gate.rate !== undefined) gate.burst ??= Math.max(1, gate.rate);
  if (gate.windows?.length === 0) delete gate.windows;
  if (gate.ladder?.length === 0) delete gate.ladder;
});

export const GATE_SCHEMA = GATE.schema;

export function parseGate(options: unknown): GateConfig {
  return GATE.parse("gate", options);
}

export function answerGate(config: GateConfig): GateSettings {
  return answerOf(GATE, config);
}

/** A key to configure: that of one gate, or a prefix with a trailing `*`. */
export const GATE_PATTERN: Kind<string> = kind(
  `${A_NAME}, or a prefix of one and a trailing *`,
  { type: "string", minLength: 1, maxLength: limits.NAME_BYTES_MAX },
  (key) => isName(key) || (typeof key === "string" && key.endsWith("*") && isPrefix(key)),
);

function isPrefix(key: string): boolean {
  return key.length <= limits.NAME_BYTES_MAX && isNamePart(key, key.length - 1);
}

/** Why a gate is shut for a while: a line that is shown beside it. */
export const COOLDOWN_REASON: Kind<string> = bytes(limits.REASON_BYTES_MAX);

export const COOLDOWN: Kind<number, Duration> = duration();
