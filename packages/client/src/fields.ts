/** Options are objects whose fields are all known: a misspelt one would be ignored in silence. */
import { invalid, unknownField } from "./invalid.ts";

export function fieldsOf<T extends object>(
  field: string,
  value: unknown,
  known: readonly string[],
): T {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(field, `an object with ${known.join(", ")}`, value);
  }
  for (const [name, part] of Object.entries(value)) {
    if (!known.includes(name)) throw unknownField(`${field}.${name}`, known, part);
  }
  return value as T;
}

export function listOf<T>(
  field: string,
  value: unknown,
  item: (field: string, value: unknown) => T,
): T[] {
  if (!Array.isArray(value)) throw invalid(field, "an array", value);
  return value.map((one, index) => item(`${field}[${index}]`, one));
}
