/**
 * Kinds of values: each says which values it accepts, as a JSON schema and in words, and parses a
 * value into the form that is used inside. Calls and options are tables of kinds, so a value is
 * described once: the parser, the schema and the reference page are made from the same row.
 */
import { SluiceError } from "./errors.ts";
import { insteadOf } from "./foreign-options.ts";
import { KEY_BYTES_MAX } from "./limits.ts";
import { A_NAME, fitsBytes, isName, NAME_PATTERN } from "./names.ts";
import { nearest } from "./nearest.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** A kind of value: given as `Given`, used inside as `T`, answered as `Answer`. */
export interface Kind<T = unknown, Given = T, Answer = T> {
  /** What can be given, as JSON. */
  readonly schema: Schema;
  /** The same for people: "an integer from 1 to 100". */
  readonly words: string;
  /** Refuses with INVALID, which names the field and the value. */
  parse(field: string, value: unknown): T;
  /** Whether a value that is used as it is given is one; nothing is built for the answer. */
  accepts?(value: unknown): boolean;
  /** Refuses a value that is not in the form used inside; absent: `parse` does. */
  check?(field: string, value: unknown): void;
  /** Changes a part of `base`; absent: a value that is given replaces the whole. */
  merge?(field: string, value: unknown, base: T): T;
  /** What a text of an address or a command line gives; absent: a text, or JSON. */
  fromText?(text: string): T | Given | string;
  /** The form in which the value is answered; absent: as it is. It can be given again. */
  answer?(value: T): Answer;
  /** Absent inside is `null` outside, where it says that a part is switched off. */
  readonly isNullable?: true;
  /** The fields of an object, or of the objects of a list. */
  readonly parts?: Parts;
  /** Carries a type, never a value. */
  readonly given?: Given;
}

/** What a table says of its fields. */
export type Parts = Readonly<
  Record<
    string,
    {
      // biome-ignore lint/suspicious/noExplicitAny: kinds of all types are in one table.
      readonly kind: Kind<any, any, any>;
      readonly text: string;
      readonly default?: unknown;
      readonly reckoned?: string;
      readonly isRequired?: true;
    }
  >
>;

/** The type that a kind parses to. */
export type Parsed<K> = K extends Kind<infer T, infer _G, infer _A> ? T : never;

/** The type of what can be given. */
export type Given<K> = K extends Kind<infer _T, infer G, infer _A> ? G : never;

/** The type of what is answered. */
export type Answered<K> = K extends Kind<infer _T, infer _G, infer A> ? A : never;

/** The refusal of one field: names the field, what was wanted and what was given. */
export function invalid(field: string, wanted: string, value: unknown): SluiceError {
  const message = `${field} must be ${wanted}, got ${shown(value)}`;
  return new SluiceError("INVALID", message, { field, value: plain(value) });
}

/** An unknown field is usually misspelt, and would have no effect without a word. */
export function unknownField(field: string, known: readonly string[], value: unknown): SluiceError {
  const others = known.length === 0 ? "there are none here" : `known are ${known.join(", ")}`;
  const instead = insteadOf(field);
  const advice = instead === undefined ? meant(field, known) : `: ${instead}`;
  const message = `${field} is not a known field${advice}; ${others}`;
  return new SluiceError("INVALID", message, { field, value: plain(value) });
}

/** A second slip is likely in a long name only: `list` does not mean `cost`. */
function meant(field: string, known: readonly string[]): string {
  const name = field.slice(field.lastIndexOf(".") + 1);
  const near = nearest(name, known, name.length > SHORT_NAME ? undefined : 1);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

const SHORT_NAME = 5;

export function shown(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 64 ? `${value.slice(0, 61)}...` : value);
  }
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  if (value instanceof Date) return Number.isNaN(+value) ? "an invalid Date" : value.toISOString();
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** Details travel as JSON, so they carry only what JSON can. */
export function plain(value: unknown): unknown {
  const isPlain = (value ?? null) === null || Number.isFinite(value) || value === !!value;
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
    accepts,
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

/** One or more of something. */
export const COUNT: Kind<number> = integer(1, Number.MAX_SAFE_INTEGER);

export function checkInteger(field: string, value: unknown, min: number, max: number): void {
  integer(min, max).parse(field, value);
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

/** Refuses a value that is not in the form used inside: it was parsed where it entered. */
export function checkParsed(of: Kind, field: string, value: unknown): void {
  if (of.check === undefined) of.parse(field, value);
  else of.check(field, value);
}

/** Items of one kind, from `min` to `max` of them. */
export function list<T, Given, Answer>(
  of: Kind<T, Given, Answer>,
  max: number,
  min = 0,
): Kind<readonly T[], readonly Given[], readonly Answer[]> {
  const words =
    min === 0 ? `an array of at most ${max} items` : `an array of ${min} to ${max} items`;
  const itemsOf = (field: string, value: unknown): readonly unknown[] => {
    if (!Array.isArray(value)) throw invalid(field, words, value);
    if (value.length < min || value.length > max) throw invalid(field, words, value.length);
    return value;
  };
  return {
    schema: { type: "array", items: of.schema, minItems: min, maxItems: max },
    words,
    parse: (field, value) =>
      itemsOf(field, value).map((item, i) => of.parse(`${field}[${i}]`, item)),
    check(field, value) {
      const items = itemsOf(field, value);
      for (let i = 0; i < items.length; i++) {
        // The name of the item is made only to refuse it.
        if (of.accepts?.(items[i]) !== true) checkParsed(of, `${field}[${i}]`, items[i]);
      }
    },
    answer: (items) => items.map((item) => answerOf(of, item)),
    ...(of.parts === undefined ? {} : { parts: of.parts }),
  };
}

/** A part that `null` switches off; inside it is absent then, and the answer says `null`. */
export function nullable<T, Given, Answer>(
  of: Kind<T, Given, Answer>,
): Kind<T | undefined, Given | null, Answer | null> {
  return {
    schema: { anyOf: [of.schema, { type: "null" }] },
    words: `${of.words}, or null`,
    parse: (field, value) => (value === null ? undefined : of.parse(field, value)),
    isNullable: true,
    ...(of.parts === undefined ? {} : { parts: of.parts }),
    answer: (value) => (value === undefined ? null : answerOf(of, value)),
  };
}

export function answerOf<T, Given, Answer>(of: Kind<T, Given, Answer>, value: T): Answer {
  return of.answer === undefined ? (value as unknown as Answer) : of.answer(value);
}

export const NAME: Kind<string> = kind(A_NAME, { type: "string", pattern: NAME_PATTERN }, isName);

/** Text of a bounded length in UTF-8. */
export function bytes(max: number, min = 0): Kind<string> {
  const words = `a string of ${min === 0 ? "at most" : `${min} to`} ${max} bytes`;
  return kind(words, { type: "string", minLength: min, maxLength: max }, (value) => {
    return fitsBytes(value, max) && value.length >= min;
  });
}

/** A key: any text that is not too long. */
export const KEY: Kind<string> = bytes(KEY_BYTES_MAX);

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  return typeof value === "object" && value !== null && !Array.isArray(value);
};
