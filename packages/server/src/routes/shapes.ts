/** Shapes that several calls share: schemas that check what comes in and describe it at once. */
import { ERROR_CODES } from "@sluice/protocol";

export type Schema = Readonly<Record<string, unknown>>;

export const TEXT: Schema = { type: "string" };
export const COUNT: Schema = { type: "integer", minimum: 0 };
export const NUMBER: Schema = { type: "number" };
export const FLAG: Schema = { type: "boolean" };
export const ANYTHING: Schema = { description: "Any JSON value." };
export const TIME: Schema = { type: "number", description: "Milliseconds since 1970." };
export const MS: Schema = { type: "number", minimum: 0, description: "Milliseconds." };

export const NAME: Schema = { type: "string", pattern: "^[A-Za-z0-9._:-]{1,255}$" };

/** A group: of this queue by its name, of another in full. */
export const GROUP: Schema = {
  type: "string",
  pattern: "^([A-Za-z0-9._:-]{1,255}/)?[A-Za-z0-9._:-]{1,255}$",
};

export const BASE64: Schema = { type: "string", contentEncoding: "base64" };

export const FAIRNESS_KEY: Schema = {
  description: "One level as a text, several as a list.",
  anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
};

const ERROR_JSON: Schema = object(
  {
    code: { type: "string", enum: ERROR_CODES },
    message: TEXT,
    retryAfterMs: MS,
    details: { type: "object" },
  },
  ["code", "message"],
);

export const ERROR: Schema = {
  description: "Refused. The code is stable, the message is for people.",
  ...object({ error: ERROR_JSON }, ["error"]),
};

/** An object with these fields and no others. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  const needs = required.length === 0 ? {} : { required };
  return { type: "object", properties, ...needs, additionalProperties: false };
}

export function list(items: Schema, more: Schema = {}): Schema {
  return { type: "array", items, ...more };
}

/** What is not in an answer of a cluster. */
export const MISSING: Schema = list(
  { type: "integer" },
  { description: "Partitions of the cluster that did not answer: what they hold is not in it." },
);

/** One page of a list. */
export function page(items: Schema): Schema {
  return object({ items: list(items), cursor: TEXT }, ["items"]);
}

/** For each item of a batch: what came of it, or why it was refused. */
export function results(properties: Readonly<Record<string, Schema>>): Schema {
  return object({ results: list(object({ ...properties, error: ERROR_JSON })) }, ["results"]);
}

/** The answers of a call: a good one, and the ways to be refused. */
export function answers(ok: Schema, others: Readonly<Record<string, Schema>> = {}): Schema {
  return { 200: ok, ...others, "4xx": ERROR, "5xx": ERROR };
}

const NOTHING: Schema = { type: "null", description: "Done." };

/** The answers of a call that has nothing to tell. */
export const DONE: Schema = { 204: NOTHING, "4xx": ERROR, "5xx": ERROR };

export const QUEUE_PARAMS: Schema = object({ queue: NAME }, ["queue"]);
export const JOB_PARAMS: Schema = object({ id: { type: "string", maxLength: 64 } }, ["id"]);
export const CURSOR: Schema = { type: "string", maxLength: 2048, description: "Of the last page." };

/** A page size. */
export function limit(max: number): Schema {
  return { type: "integer", minimum: 1, maximum: max };
}
