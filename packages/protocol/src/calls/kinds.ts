/**
 * The kinds of arguments and options that calls have. Over a network they check what the types
 * promise; ranges, and the items of batches one by one, are for the broker to check.
 */
import type { FairnessKey } from "../job.ts";
import { FLAG, integer, isObject, type Kind, kind, oneOf, type Schema, TEXT } from "../kinds.ts";
import { parseLaneKey } from "../lane-key.ts";
import { BATCH_MAX, PAGE_MAX, WEIGHT_MAX } from "../limits.ts";
import { GATE_SCHEMA, type GateOptions } from "../options/gate-options.ts";
import { QUEUE_SCHEMA, type QueueOptions } from "../options/queue-options.ts";
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

const NAME: Kind<string> = kind("a name", shapes.NAME, isText);

/** A list of texts: names, ids or keys. */
export const TEXTS: Kind<never> = kind("an array of texts", textsOf(), Array.isArray);

function textsOf(): Schema {
  return { type: "array", items: { type: "string" }, maxItems: BATCH_MAX };
}

/** Options travel as they are given: the broker that acts on them parses them. */
export const QUEUE_OPTIONS: Kind<QueueOptions> = kind("an object", QUEUE_SCHEMA, isObject);

export const GATE: Kind<GateOptions> = kind("an object", GATE_SCHEMA, isObject);

export const FAIRNESS_KEY: Kind<FairnessKey> = {
  ...kind<FairnessKey>(
    "a text, or an array of texts for a path",
    shapes.FAIRNESS_KEY,
    (value) => isText(value) || Array.isArray(value),
  ),
  fromText: parseLaneKey,
};

export const COUNT: Kind<number> = integer(1, Number.MAX_SAFE_INTEGER);

export const WEIGHT: Kind<number> = integer(1, WEIGHT_MAX);

export const ID: Argument<string> = arg("id", TEXT);
export const GROUP: Argument<string> = arg("group", TEXT);
export const QUEUE: Argument<string> = arg("queue", NAME);
export const KEY: Argument<string> = arg("key", text(256, 1));
export const STORE: Argument<string> = arg("store", NAME);

/** A batch of texts, or of items; what an item must be, the broker checks for each by itself. */
export function batch(name: string, items: Schema): Argument<never> {
  return arg(name, kind("an array", { ...textsOf(), items }, Array.isArray));
}

const CURSOR: Kind<string> = kind("a text", shapes.CURSOR, isText);

export const PAGE = {
  limit: told(integer(1, PAGE_MAX), "Items of the page at most."),
  cursor: CURSOR,
} as const;

export { FLAG, NAME, oneOf };
