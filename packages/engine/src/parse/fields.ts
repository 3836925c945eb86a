/**
 * Reads the fields of one object of the input: names the field and the value of what it refuses,
 * refuses fields that it does not know, and falls back to a default where a field is absent.
 * `undefined` is absent; `null` is too where a part can be switched off, so that JSON can say so.
 */
import { invalid, Refusal } from "../errors.ts";
import { KEY_BYTES_MAX } from "../limits.ts";
import { A_NAME, fitsBytes, isName } from "./names.ts";

export class Fields {
  readonly path: string;
  readonly #values: Readonly<Record<string, unknown>>;

  /** An absent object is an empty one. */
  constructor(path: string, value: unknown, known: readonly string[]) {
    this.path = path;
    this.#values = value === undefined ? {} : asObject(path, value);
    for (const name of Object.keys(this.#values)) {
      if (known.includes(name)) continue;
      const field = `${path}.${name}`;
      const fields = known.join(", ");
      throw new Refusal("INVALID", `${field} is not a known field; known are ${fields}`, {
        field,
        value: this.#values[name],
      });
    }
  }

  field(name: string): string {
    return `${this.path}.${name}`;
  }

  get(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  sub(name: string, known: readonly string[]): Fields {
    return new Fields(this.field(name), this.get(name), known);
  }

  integer<D>(name: string, absent: D, min: number, max: number): number | D {
    const value = this.get(name);
    return value === undefined ? absent : integer(this.field(name), value, min, max);
  }

  /** The same, for a field that `null` switches off. */
  integerOrOff(name: string, absent: number | undefined, min: number, max: number) {
    return this.get(name) === null ? undefined : this.integer(name, absent, min, max);
  }

  number<D>(name: string, absent: D, min: number, max: number): number | D {
    const value = this.get(name);
    return value === undefined ? absent : number(this.field(name), value, min, max);
  }

  flag(name: string, absent: boolean): boolean {
    const value = this.get(name);
    if (value === undefined) return absent;
    if (typeof value !== "boolean") throw invalid(this.field(name), "true or false", value);
    return value;
  }

  choice<T extends string>(name: string, absent: T, choices: readonly T[]): T {
    const value = this.get(name);
    if (value === undefined) return absent;
    const choice = choices.find((one) => one === value);
    if (choice === undefined) {
      throw invalid(this.field(name), `one of ${choices.join(", ")}`, value);
    }
    return choice;
  }

  /** The items of an array of bounded length, each read by `item`; undefined when absent. */
  list<T>(
    name: string,
    min: number,
    max: number,
    item: (field: string, value: unknown, index: number) => T,
  ): T[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const field = this.field(name);
    if (!Array.isArray(value)) throw invalid(field, `an array of ${min} to ${max} items`, value);
    if (value.length < min || value.length > max) {
      throw invalid(field, `an array of ${min} to ${max} items`, value.length);
    }
    return value.map((one, index) => item(`${field}[${index}]`, one, index));
  }
}

export function integer(field: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
    return value as number;
  }
  throw invalid(field, `an integer from ${min} to ${max}`, value);
}

export function number(field: string, value: unknown, min: number, max: number): number {
  // The comparisons are false for NaN, so it is refused with the rest.
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw invalid(field, `a number from ${min} to ${max}`, value);
}

export function name(field: string, value: unknown): string {
  if (isName(value)) return value;
  throw invalid(field, A_NAME, value);
}

export function asObject(field: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalid(field, "an object", value);
}

/** A key: any string that is not too long. */
export function key(field: string, value: unknown): string {
  if (fitsBytes(value, KEY_BYTES_MAX)) return value;
  throw invalid(field, `a string of at most ${KEY_BYTES_MAX} bytes`, value);
}
