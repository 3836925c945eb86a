/**
 * Objects whose fields are rows of a table. A row says the name, the kind and the sentence of one
 * field; the parser, the form of the answer, the schema and the types are made from the rows.
 */
import {
  type Answered,
  answerOf,
  checkParsed,
  type Given,
  invalid,
  isObject,
  type Kind,
  type Parsed,
  type Schema,
  unknownField,
} from "./kinds.ts";

/** One field. */
export interface Field<T = unknown, G = T, A = T> {
  readonly kind: Kind<T, G, A>;
  /** What it does, in one sentence. */
  readonly text: string;
  /** Its name inside, where that differs: `lease` is `leaseMs`, as units are last there. */
  readonly as?: string;
  /** The value when it is not given, as it would be given; `reckoned` says how it is computed. */
  readonly default?: unknown;
  readonly reckoned?: string;
  readonly isRequired?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: kinds of all types are in one table.
export type Fields = Readonly<Record<string, Field<any, any, any>>>;

type Name<F extends Fields, N extends keyof F> = F[N] extends { as: infer A extends string }
  ? A
  : N;

/** Names of fields that always have a value inside. */
type Filled<F extends Fields> = {
  [N in keyof F]: F[N] extends { isRequired: true } | { default: unknown } ? N : never;
}[keyof F];

type Required<F extends Fields> = {
  [N in keyof F]: F[N] extends { isRequired: true } ? N : never;
}[keyof F];

/** An object with these fields, as it is given. */
export type GivenFields<F extends Fields> = Flat<
  { [N in Required<F>]: Given<F[N]["kind"]> } & {
    [N in Exclude<keyof F, Required<F>>]?: Given<F[N]["kind"]> | undefined;
  }
>;

/** The same, with the names and values that are used inside. */
export type ParsedFields<F extends Fields> = Flat<
  { [N in keyof Pick<F, Filled<F>> as Name<F, N>]: Parsed<F[N]["kind"]> } & {
    [N in keyof Omit<F, Filled<F>> as Name<F, N>]?: Parsed<F[N]["kind"]> | undefined;
  }
>;

/** Names of fields that are in every answer. */
type Told<F extends Fields> = {
  [N in keyof F]: null extends Answered<F[N]["kind"]> ? N : N extends Filled<F> ? N : never;
}[keyof F];

/** The same, as it is answered. */
export type AnsweredFields<F extends Fields> = Flat<
  { [N in Told<F>]: Answered<F[N]["kind"]> } & {
    [N in Exclude<keyof F, Told<F>>]?: Answered<F[N]["kind"]> | undefined;
  }
>;

type Flat<T> = { -readonly [N in keyof T]: T[N] };

type Values = Record<string, unknown>;

/** Checks what the fields say together, and fills in what follows from others. */
export type Settle<F extends Fields> = (
  parsed: ParsedFields<F>,
  field: string,
  given: Readonly<Values>,
) => void;

/** An object of these fields. Those that are not given, and have no default, stay absent. */
export function fields<const F extends Fields>(
  rows: F,
  settle?: Settle<F>,
): Kind<ParsedFields<F>, GivenFields<F>, AnsweredFields<F>> {
  const names = Object.keys(rows);
  const words = `an object with ${names.join(", ")}`;
  const merge = (field: string, value: unknown, base: Readonly<Values>): Values => {
    const given = knownFields(field, value, names);
    const parsed: Values = {};
    for (const name of names) {
      const row = rows[name]!;
      const at = row.as ?? name;
      const part = Object.hasOwn(given, name) ? given[name] : undefined;
      const made = partOf(row, `${field}.${name}`, part, base[at]);
      if (made !== undefined) parsed[at] = made;
    }
    settle?.(parsed as ParsedFields<F>, field, given);
    return parsed;
  };
  return {
    schema: schemaOf(rows),
    words,
    parts: rows,
    parse: (field, value) => merge(field, value, {}) as ParsedFields<F>,
    merge: (field, value, base) => merge(field, value, base as Values) as ParsedFields<F>,
    check: (field, value) => checkFields(rows, field, value),
    answer: (value) => answerFields(rows, value as Values) as AnsweredFields<F>,
  };
}

/** Checks an object that has the names and values used inside. */
function checkFields(rows: Fields, field: string, value: unknown): void {
  const entries = Object.entries(rows);
  const inside = entries.map(([name, { as = name }]) => as);
  const parts = knownFields(field, value, inside);
  for (const [name, { kind, as = name, isRequired }] of entries) {
    const part = parts[as];
    if (part !== undefined || isRequired === true) checkParsed(kind, `${field}.${name}`, part);
  }
}

function partOf(row: Field, field: string, value: unknown, base: unknown): unknown {
  const { kind } = row;
  if (value !== undefined) {
    if (base === undefined || kind.merge === undefined) return kind.parse(field, value);
    return kind.merge(field, value, base);
  }
  // A part of it may have come after the base was stored: that gets its default.
  if (base !== undefined) return kind.merge === undefined ? base : kind.merge(field, {}, base);
  if (row.isRequired === true) throw invalid(field, kind.words, value);
  return row.default === undefined ? undefined : kind.parse(field, row.default);
}

function answerFields(rows: Fields, value: Readonly<Values>): Values {
  const answered: Values = {};
  for (const [name, { kind, as = name }] of Object.entries(rows)) {
    const part = value[as];
    if (part !== undefined || kind.isNullable === true) answered[name] = answerOf(kind, part);
  }
  return answered;
}

/** The schema of an object with these fields and no others. */
function schemaOf(rows: Fields): Schema {
  const required = Object.keys(rows).filter((name) => rows[name]!.isRequired === true);
  const properties = Object.entries(rows).map(([name, row]) => {
    const absent = row.default === undefined ? {} : { default: row.default };
    return [name, { ...row.kind.schema, description: row.text, ...absent }];
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** Options are objects whose fields are all known: a misspelt one would have no effect. */
export function knownFields<T extends object = Readonly<Values>>(
  field: string,
  value: unknown,
  known: readonly string[],
): T {
  if (!isObject(value)) throw invalid(field, `an object with ${known.join(", ")}`, value);
  for (const [name, part] of Object.entries(value)) {
    if (!known.includes(name)) throw unknownField(`${field}.${name}`, known, part);
  }
  return value as T;
}
