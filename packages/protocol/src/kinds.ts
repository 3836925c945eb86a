/**
 * Kinds of values: each says which values it accepts, as a JSON schema and in words, and parses a
 * value into the form that is used inside. Calls and options are tables of kinds, so a value is
 * described once: the parser, the schema and the reference page are made from the same row.
 */
import { SluiceError } from "./errors.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** A kind of value, given as `Given` and used inside as `T`. */
export interface Kind<T = unknown> {
  /** What can be given, as JSON. */
  readonly schema: Schema;
  /** The same for people: "an integer from 1 to 100". */
  readonly words: string;
  /** Refuses with INVALID, which names the field and the value. */
  parse(field: string, value: unknown): T;
  /** Reads it from a text, of an address or a command line; absent: a text, or JSON. */
  fromText?(text: string): T;
  /** The form in which the value is answered; absent: as it is. It can be given again. */
  answer?(value: T): unknown;
}

/** The refusal of one field: names the field, what was wanted and what was given. */
export function invalid(field: string, wanted: string, value: unknown): SluiceError {
  const message = `${field} must be ${wanted}, got ${shown(value)}`;
  return new SluiceError("INVALID", message, { field, value: plain(value) });
}

/** An unknown field is usually misspelt, and would have no effect without a word. */
export function unknownField(field: string, known: readonly string[], value: unknown): SluiceError {
  const message = `${field} is not a known field; known are ${known.join(", ")}`;
  return new SluiceError("INVALID", message, { field, value: plain(value) });
}

function shown(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 64 ? `${value.slice(0, 61)}...` : value);
  }
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** Details travel as JSON, so they carry only what JSON can. */
function plain(value: unknown): unknown {
  const isPlain = value === null || Number.isFinite(value) || value === !!value;
  return isPlain || typeof value === "string" ? value : shown(value);
}

/** A kind whose values are used as they are given, when `accepts` says so. */
export function kind<T>(
  words: string,
  schema: Schema,
  accepts: (value: unknown) => boolean,
): Kind<T> {
  return {
    schema,
    words,
    parse(field, value) {
      if (accepts(value)) return value as T;
      throw invalid(field, words, value);
    },
  };
}

export const TEXT: Kind<string> = kind("a text", { type: "string" }, (value) => {
  return typeof value === "string";
});

export const FLAG: Kind<boolean> = kind("true or false", { type: "boolean" }, (value) => {
  return typeof value === "boolean";
});

export function integer(min: number, max: number): Kind<number> {
  const schema = { type: "integer", minimum: min, maximum: max };
  return kind(`an integer from ${min} to ${max}`, schema, (value) => {
    return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  });
}

export function number(min: number, max: number): Kind<number> {
  const schema = { type: "number", minimum: min, maximum: max };
  return kind(`a number from ${min} to ${max}`, schema, (value) => {
    return typeof value === "number" && value >= min && value <= max;
  });
}

export function oneOf<const T extends string>(choices: readonly T[]): Kind<T> {
  const schema = { type: "string", enum: choices };
  return kind(`one of ${choices.join(", ")}`, schema, (value) => choices.includes(value as T));
}
