/** Rules for one option: a fixed value, a template, or a choice. */
import { invalid, type PolicyChoice } from "@sluice/protocol";
import { CHOICE_VALUES_MAX, TEMPLATE_CHARS_MAX } from "../limits.ts";
import { type Headers, Template } from "./template.ts";

/** What an option is for a job with these headers; undefined: the policy says nothing. */
export type Rule<T> = (headers: Headers, queue: string) => T | undefined;

/** Makes a value from a text, or from a literal in the policy; undefined: it is invalid. */
export type Reader<T> = (value: unknown) => T | undefined;

/** An integer in its bounds, also as a text of digits. */
export function integerReader(min: number, max: number): Reader<number> {
  return (value) => {
    const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
    const isInside = Number.isInteger(number) && (number as number) >= min;
    return isInside && (number as number) <= max ? (number as number) : undefined;
  };
}

/** The rule that `value` states; what it states outright must be as `wanted`. */
export function parseRule<T>(
  field: string,
  value: unknown,
  read: Reader<T>,
  wanted: string,
): Rule<T> {
  if (typeof value === "string") {
    const template = Template.parse(field, value);
    return (headers, queue) => read(template.render(headers, queue));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return parseChoice(field, value as PolicyChoice<unknown>, read, wanted);
  }
  const fixed = checked(field, value, read, wanted);
  return () => fixed;
}

const CHOICE = ["by", "values", "default"];

function parseChoice<T>(
  field: string,
  choice: PolicyChoice<unknown>,
  read: Reader<T>,
  wanted: string,
): Rule<T> {
  for (const name of Object.keys(choice)) {
    if (CHOICE.includes(name)) continue;
    const known = `absent: a choice has ${CHOICE.join(", ")}`;
    throw invalid(`${field}.${name}`, known, choice[name as keyof PolicyChoice<unknown>]);
  }
  const by = Template.parse(`${field}.by`, choice.by);
  const values = parseValues(`${field}.values`, choice.values, read, wanted);
  const otherwise =
    choice.default === undefined
      ? undefined
      : checked(`${field}.default`, choice.default, read, wanted);
  return (headers, queue) => {
    const key = by.render(headers, queue);
    return (key === undefined ? undefined : values.get(key)) ?? otherwise;
  };
}

/** A map: a plan may be called "constructor". */
function parseValues<T>(
  field: string,
  values: unknown,
  read: Reader<T>,
  wanted: string,
): Map<string, T> {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw invalid(field, "an object of values", values);
  }
  const entries = Object.entries(values);
  if (entries.length > CHOICE_VALUES_MAX) {
    throw invalid(field, `an object of at most ${CHOICE_VALUES_MAX} values`, entries.length);
  }
  return new Map(
    entries.map(([key, value]) => {
      if (key.length > TEMPLATE_CHARS_MAX) {
        throw invalid(field, `an object of keys up to ${TEMPLATE_CHARS_MAX} characters`, key);
      }
      return [key, checked(`${field}[${JSON.stringify(key)}]`, value, read, wanted)];
    }),
  );
}

function checked<T>(field: string, value: unknown, read: Reader<T>, wanted: string): T {
  // Digits in quotes are a slip where a number is meant outright; templates make them on purpose.
  const isSlip = typeof value === "string" && wanted.startsWith("an integer");
  const got = isSlip ? undefined : read(value);
  if (got === undefined) throw invalid(field, wanted, value);
  return got;
}
