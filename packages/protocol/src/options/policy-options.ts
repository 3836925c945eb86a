/**
 * The options that a queue sets on jobs that are added to it, each option by itself, if their
 * producer does not. A policy is data: it is stored with the queue and runs where the broker is.
 *
 * A template is a text with places: `{headers.tenant}` is the value of a header, `{queue}` the name
 * of the queue, and `{headers.region|eu}` is `eu` when the header is missing or empty. A template
 * whose header is missing, without such a default, has no value. Missing and invalid values are
 * ignored: a policy never refuses a job.
 */
import { type Duration, duration } from "../duration.ts";
import {
  type Fields,
  fields,
  type GivenFields,
  knownFields,
  type ParsedFields,
} from "../fields.ts";
import { invalid, isObject, type Kind, kind, TEXT } from "../kinds.ts";

/** A value that is chosen by what the template `by` makes; else `default`; else none. */
export interface PolicyChoice<T> {
  by: string;
  values: Readonly<Record<string, T>>;
  default?: T | undefined;
}

/** A number, a template that makes one, or a choice between some. */
export type PolicyNumber = number | string | PolicyChoice<number>;

/** A duration, a template that makes milliseconds, or a choice between durations. */
export type DurationRule = Duration | `${string}{${string}}${string}` | PolicyChoice<Duration>;

const CHOICE = {
  type: "object",
  properties: { by: { type: "string" }, values: { type: "object" }, default: {} },
  required: ["by", "values"],
};

/** Rules are read where they run: here they only get their form. */
function rule<T>(words: string, types: readonly string[]): Kind<T> {
  const schema = { anyOf: [{ type: types }, CHOICE] };
  return kind(words, schema, (value) => {
    return isObject(value) || typeof value === "string" || typeof value === "number";
  });
}

const NUMBER = rule<PolicyNumber>("a number, a template or a choice", ["number", "string"]);

const TIER = rule<PolicyNumber | PolicyChoice<number | string>>(
  "the index or name of a tier, a template or a choice",
  ["integer", "string"],
);

const SWITCH: Kind<boolean | string | PolicyChoice<boolean>> = kind(
  "true, false, a template that makes one of them, or a choice",
  { anyOf: [{ type: ["boolean", "string"] }, CHOICE] },
  (value) => typeof value === "boolean" || typeof value === "string" || isObject(value),
);

const LENGTH = duration();

const DURATION: Kind<PolicyNumber, DurationRule, DurationRule> = {
  words: "a duration, a template that makes milliseconds, or a choice",
  schema: { anyOf: [...(LENGTH.schema.anyOf as object[]), CHOICE] },
  parse(field, value) {
    if (typeof value === "string" && value.includes("{")) return value;
    return isObject(value) ? parseChoice(field, value) : LENGTH.parse(field, value);
  },
};

function parseChoice(field: string, value: object): PolicyChoice<number> {
  const { by, values, default: otherwise } = knownFields(field, value, ["by", "values", "default"]);
  if (!isObject(values)) throw invalid(`${field}.values`, "an object of durations", values);
  const parsed = Object.entries(values).map(([key, length]) => {
    return [key, LENGTH.parse(`${field}.values[${JSON.stringify(key)}]`, length)] as const;
  });
  const choice = { by: by as string, values: Object.fromEntries(parsed) };
  if (otherwise === undefined) return choice;
  return { ...choice, default: LENGTH.parse(`${field}.default`, otherwise) };
}

const TEXTS: Kind<readonly string[]> = kind(
  "an array of texts",
  { type: "array", items: { type: "string" } },
  Array.isArray,
);

const KEY: Kind<string | readonly string[]> = kind(
  "a template, or an array of them",
  { anyOf: [{ type: "string" }, TEXTS.schema] },
  (value) => typeof value === "string" || Array.isArray(value),
);

export const POLICY_OPTIONS = {
  fairnessKey: {
    kind: KEY,
    text: "A template, or one for each level of a path; a level without a value is the empty key.",
  },
  weight: { kind: NUMBER, text: "The weight of the job's lane." },
  priority: { kind: TIER, text: "The tier, by index or name." },
  gates: {
    kind: TEXTS,
    text: "Templates; one without a value is left out. Characters no name may have become `_`.",
  },
  cools: {
    kind: TEXTS,
    text:
      "Which of the gates that this policy puts on a job its workers may cool down or blame: " +
      "names, prefixes that end in `*`, or `*`. All of them when absent.",
  },
  cost: { kind: NUMBER, text: "What the job takes from its gates and its lane's share." },
  delay: { kind: DURATION, as: "delayMs", text: "How long the job waits before it is due." },
  ttl: { kind: DURATION, as: "ttlMs", text: "When the job expires, from when it is added." },
  maxWait: { kind: DURATION, as: "maxWaitMs", text: "The longest wait behind gates." },
  attempts: { kind: NUMBER, text: "Failures after which the job is dead." },
  lease: { kind: DURATION, as: "leaseMs", text: "How long the job may be held." },
  ordered: {
    kind: SWITCH,
    text: "Whether the job waits for the ordered jobs ahead of it with the same key and priority.",
  },
  lua: {
    kind: TEXT,
    text:
      "A Lua 5.4 program with `on_enqueue(msg)`, `on_failure(msg)` or both. Its answers win over " +
      "the templates, which apply where it answers nothing or fails.",
  },
} as const satisfies Fields;

export const POLICY = fields(POLICY_OPTIONS);

/** A policy as it is given. */
export interface PolicyOptions extends GivenFields<typeof POLICY_OPTIONS> {}

/** A policy as it is stored: durations are milliseconds. */
export interface QueuePolicy extends ParsedFields<typeof POLICY_OPTIONS> {}
