/**
 * Shapes of values as JSON schemas: they describe answers, and check what a request says. The shape
 * of a type names all its fields, so a field that is forgotten does not compile.
 */
import { ERROR_CODES, type ErrorJson } from "../errors.ts";
import type { Schema } from "../kinds.ts";
import type { Page } from "../queue.ts";

export type { Schema };

export const TEXT: Schema = { type: "string" };
export const COUNT: Schema = { type: "integer", minimum: 0 };
export const NUMBER: Schema = { type: "number" };
export const FLAG: Schema = { type: "boolean" };
export const ANYTHING: Schema = { description: "Any JSON value." };
export const TIME: Schema = { type: "number", description: "Milliseconds since 1970." };
export const MS: Schema = { type: "number", minimum: 0, description: "Milliseconds." };
export const NAME: Schema = { type: "string", pattern: "^[A-Za-z0-9._:-]{1,255}$" };
export const BASE64: Schema = { type: "string", contentEncoding: "base64" };

/** The same, with a sentence about what it means here. */
export function about(description: string, schema: Schema): Schema {
  return { ...schema, description };
}

export function choice(choices: readonly string[]): Schema {
  return { type: "string", enum: choices };
}

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

/** A field that may be absent. */
class Optional {
  readonly schema: Schema;

  constructor(schema: Schema) {
    this.schema = schema;
  }
}

export function maybe(schema: Schema): Optional {
  return new Optional(schema);
}

type FieldsOf<T> = T extends unknown ? keyof T : never;

/** One shape for each field of a type; of a union, for those of all its members. */
export type Fields<T> = {
  readonly [K in FieldsOf<T>]-?: K extends keyof T
    ? undefined extends T[K]
      ? Optional
      : Schema
    : Optional;
};

/** The shape of a type. */
export function shape<T>(fields: Fields<T>): Schema {
  const entries = Object.entries<Schema | Optional>(fields);
  const isOptional = (field: Schema | Optional): field is Optional => field instanceof Optional;
  return object(
    Object.fromEntries(
      entries.map(([name, field]) => [name, isOptional(field) ? field.schema : field]),
    ),
    entries.filter(([, field]) => !isOptional(field)).map(([name]) => name),
  );
}

export const CURSOR: Schema = {
  type: "string",
  maxLength: 2048,
  description: "The `cursor` of the last page.",
};

/** A page of a list. */
export function page(items: Schema): Schema {
  return shape<Page<unknown>>({ items: list(items), cursor: maybe(TEXT) });
}

/** What is not in an answer of a cluster. */
export const MISSING: Schema = list(
  { type: "integer" },
  { description: "Partitions of the cluster that did not answer: what they hold is not in it." },
);

export const FAIRNESS_KEY: Schema = {
  description: "One level as a text, several as a list.",
  anyOf: [TEXT, list(TEXT)],
};

export const ERROR_JSON: Schema = shape<ErrorJson>({
  code: choice(ERROR_CODES),
  message: TEXT,
  retryAfterMs: maybe(MS),
  details: maybe({ type: "object" }),
});
