/**
 * Refusals in the user's words. The port counts everything in milliseconds and says so in the names
 * of its fields; whoever typed `lease: "0s"` must not be told of a `leaseMs` of 0.
 */
import { SluiceError } from "@sluice/protocol";
import { plain, show } from "./invalid.ts";

/** What begins the path of a field, and what the user gave there. */
export interface Typed {
  readonly root: "queue" | "job" | "gate";
  readonly options: unknown;
}

/** The same error, naming the field that was typed and the value that was given. */
export function asTyped(error: SluiceError, { root, options }: Typed): SluiceError {
  const { field, value } = error.details;
  if (error.code !== "INVALID" || typeof field !== "string") return error;
  if (!field.startsWith(`${root}.`)) return error;
  // What a policy has set, the user did not give here: there the port's value stands.
  const found = lookUp(root, options ?? {}, field.slice(root.length + 1));
  const given = found.value === undefined ? value : found.value;
  const at = error.message.lastIndexOf(", got ");
  const said = at === -1 ? error.message : error.message.slice(0, at);
  const words = said.replaceAll(field, found.field).replaceAll(/(?<=[a-z])Ms\b/g, "");
  // What came is only shown anew when it was found: the port may have shown a part of it.
  const end = found.value === undefined ? error.message.slice(said.length) : `, got ${show(given)}`;
  const details = { ...error.details, field: found.field, value: plain(given) };
  return new SluiceError("INVALID", words + (at === -1 ? "" : end), details, { cause: error });
}

export async function typedAs<T>(call: Promise<T>, typed: Typed): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof SluiceError ? asTyped(error, typed) : error;
  }
}

/** Follows a path of the port through what the user gave, as far as it goes. */
function lookUp(root: string, options: unknown, path: string): { field: string; value: unknown } {
  let field = root;
  let value = options;
  let before = root;
  for (const [part] of path.matchAll(/[^.[\]]+|\[[^\]]*\]/g)) {
    // `interval: "5s"` is short for an object: there the path ends.
    if (typeof value !== "object" || value === null) return { field, value };
    const name = nameOf(part, before);
    field += part.startsWith("[") ? part : `.${name}`;
    value = (value as Record<string, unknown>)[name];
    if (value === undefined) return { field: field + restOf(path, part), value };
    before = name;
  }
  return { field, value };
}

function restOf(path: string, part: string): string {
  return path.slice(path.indexOf(part) + part.length).replaceAll(/(?<=[a-z])Ms\b/g, "");
}

function nameOf(part: string, parent: string): string {
  if (part.startsWith("[")) return part.slice(1, -1).replaceAll('"', "");
  if (part === "ms") return parent === "interval" ? "every" : "ttl";
  return part.replace(/(?<=[a-z])Ms$/, "");
}
