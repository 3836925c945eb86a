/**
 * The kinds of arguments and options that calls have. They check what the types promise; names,
 * and the items of batches one by one, are for the broker to check.
 */
import type { FairnessKey } from "../job.ts";
import {
  COUNT,
  FLAG,
  integer,
  invalid,
  isObject,
  type Kind,
  kind,
  oneOf,
  type Schema,
  TEXT,
} from "../kinds.ts";
import { parseLaneKey } from "../lane-key.ts";
import { BATCH_MAX, PAGE_MAX, WEIGHT_MAX } from "../limits.ts";
import { GATE_SCHEMA, type GateOptions } from "../options/gate-options.ts";
import { QUEUE_SCHEMA, type QueueOptions } from "../options/queue-options.ts";
import { SCHEDULE_SCHEMA, type ScheduleOptions } from "../options/schedule-options.ts";
import * as shapes from "../shapes/index.ts";
import { type Argument, arg } from "./call.ts";

const isText = (value: unknown): boolean => typeof value === "string";

/** The same kind, with a sentence about what it means here. */
export function told<T>(of: Kind<T>, sentence: string): Kind<T> {
  return { ...of, schema: { ...of.schema, description: sentence } };
}

/** A text of up to so many characters. */
export function text(max: number, min = 0): Kind<string> {
  const schema = { type: "string", ...(min === 0 ? {} : { minLength: min }), maxLength: max };
  return kind(`a text of up to ${max} characters`, schema, isText);
}

const NAME_TEXT: Kind<string> = kind("a name", shapes.NAME, isText);

/** A list of texts: names, ids or keys. */
export const TEXTS: Kind<never> = listOf("an array of texts", textsOf());

function listOf(words: string, schema: Schema): Kind<never> {
  return { words, schema, parse: (field, value) => checkBatch(field, value as never, words) };
}

/** Refuses a list that is none, or has too many items. */
export function checkBatch<T>(field: string, items: T, words = "an array"): T {
  if (!Array.isArray(items)) throw invalid(field, words, items);
  if (items.length <= BATCH_MAX) return items;
  throw invalid(`${field}.length`, `at most ${BATCH_MAX}`, items.length);
}

function textsOf(): Schema {
  return { type: "array", items: { type: "string" }, maxItems: BATCH_MAX };
}

/** Options travel as they are given: the broker that acts on them parses them. */
export const QUEUE_OPTIONS: Kind<QueueOptions> = kind("an object", QUEUE_SCHEMA, isObject);

export const SCHEDULE_OPTIONS: Kind<ScheduleOptions> = kind("an object", SCHEDULE_SCHEMA, isObject);

export const GATE: Kind<GateOptions> = kind("an object", GATE_SCHEMA, isObject);

export const FAIRNESS_KEY: Kind<FairnessKey> = {
  ...kind<FairnessKey>(
    "a text, or an array of texts for a path",
    shapes.FAIRNESS_KEY,
    (value) => isText(value) || Array.isArray(value),
  ),
  fromText: parseLaneKey,
};

export const WEIGHT: Kind<number> = integer(1, WEIGHT_MAX);

export const ID: Argument<string> = arg("id", TEXT);
export const GROUP: Argument<string> = arg("group", TEXT);
/** A flow by its full name: `orders/c3k9`. */
export const FLOW: Argument<string> = arg("flow", TEXT);
export const QUEUE: Argument<string> = arg("queue", NAME_TEXT);
export const SCHEDULE: Argument<string> = arg("schedule", NAME_TEXT);
export const KEY: Argument<string> = arg("key", text(256, 1));
export const STORE: Argument<string> = arg("store", NAME_TEXT);

/** A batch of texts, or of items; what an item must be, the broker checks for each by itself. */
export function batch(name: string, items: Schema): Argument<never> {
  return arg(name, listOf("an array", { ...textsOf(), items }));
}

const CURSOR: Kind<string> = kind("a text", shapes.CURSOR, isText);

export const PAGE = {
  limit: told(integer(1, PAGE_MAX), "Items of the page at most."),
  cursor: CURSOR,
} as const;

/** Anything that JSON can carry. */
export const ANYTHING: Kind<NonNullable<unknown>> = kind(
  "any JSON value",
  shapes.ANYTHING,
  () => true,
);

export { COUNT, FLAG, NAME_TEXT, oneOf, TEXT };
