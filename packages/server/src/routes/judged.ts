/**
 * Items of a batch are judged one by one: a bad one is refused alone, and the others go through.
 * The schema of an item only describes it; the broker checks the values, over HTTP as over the
 * stream, with the same texts. Here is what only JSON can get wrong: no object, unknown fields.
 */
import { SluiceError } from "@sluice/protocol";
import type { Schema } from "./shapes.ts";

const MARK = "x-judged-one-by-one";

/** A schema that describes and does not check. */
export function judged(schema: Schema): Schema {
  return { ...schema, [MARK]: true };
}

/** What is left to check of a schema: nothing where it is judged. */
export function checkedPart(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(checkedPart);
  if (typeof schema !== "object" || schema === null) return schema;
  if (MARK in schema) return {};
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, checkedPart(part)]));
}

/** An item as an object whose fields are all known. */
export function fieldsOf<T extends object>(
  name: string,
  item: unknown,
  known: readonly string[],
): T {
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    const message = `${name} must be an object with ${known.join(", ")}`;
    throw new SluiceError("INVALID", message, { field: name });
  }
  const stranger = Object.keys(item).find((field) => !known.includes(field));
  if (stranger === undefined) return item as T;
  const field = `${name}.${stranger}`;
  const message = `${field} is not a known field; known are ${known.join(", ")}`;
  throw new SluiceError("INVALID", message, { field });
}
