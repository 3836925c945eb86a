/**
 * The kinds of arguments and options that calls have. Over a network they check what the types
 * promise; ranges, and the items of batches one by one, are for the broker to check.
 */
import type { GateConfig } from "../gate.ts";
import type { FairnessKey } from "../job.ts";
import { FLAG, integer, type Kind, kind, number, oneOf, TEXT } from "../kinds.ts";
import type { QueueOptions } from "../queue.ts";
import { type Argument, arg } from "./call.ts";

/** Items of a page at most. */
const PAGE_MAX = 1000;

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const LIST: Kind<never> = kind("an array", { type: "array" }, Array.isArray);

export const QUEUE_OPTIONS: Kind<QueueOptions> = kind("an object", { type: "object" }, isObject);

export const GATE_CONFIG: Kind<GateConfig> = kind("an object", { type: "object" }, isObject);

const PATH = { type: "array", items: { type: "string" } };

export const FAIRNESS_KEY: Kind<FairnessKey> = kind(
  "a text, or an array of texts for a path",
  { anyOf: [{ type: "string" }, PATH] },
  (value) => typeof value === "string" || Array.isArray(value),
);

export const MS: Kind<number> = number(0, Number.MAX_SAFE_INTEGER);
export const COUNT: Kind<number> = integer(0, Number.MAX_SAFE_INTEGER);
const LIMIT: Kind<number> = integer(1, PAGE_MAX);

export const ID: Argument<string> = arg("id", TEXT);
export const GROUP: Argument<string> = arg("group", TEXT);
export const QUEUE: Argument<string> = arg("queue", TEXT);
export const KEY: Argument<string> = arg("key", TEXT);
export const STORE: Argument<string> = arg("store", TEXT);

/** A batch. What its items must be, each is told by itself. */
export function batch(name: string): Argument<never> {
  return arg(name, LIST);
}

export const PAGE = { limit: LIMIT, cursor: TEXT } as const;

export { FLAG, oneOf, TEXT };
