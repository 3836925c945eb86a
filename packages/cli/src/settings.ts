/** `name=value` pairs: values are JSON where they can be, names may go down by dots. */
import type { Kind } from "@sluice/protocol";
import { Misuse } from "./command.ts";

const NAME = /^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z0-9_*:-]+)*$/;

export function settingsOf(pairs: readonly string[]): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const pair of pairs) {
    const cut = pair.indexOf("=");
    const name = pair.slice(0, cut);
    if (cut < 1 || !NAME.test(name)) {
      throw new Misuse(`name=value is needed, got ${JSON.stringify(pair)}`);
    }
    place(settings, name.split("."), looseValue(pair.slice(cut + 1)));
  }
  return settings;
}

function place(settings: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    settings[name] = value;
    return;
  }
  const inner = Object.hasOwn(settings, name) ? settings[name] : undefined;
  const isObject = typeof inner === "object" && inner !== null;
  const into = (isObject ? inner : {}) as Record<string, unknown>;
  settings[name] = into;
  place(into, rest, value);
}

/** `5` and `true` and `["a"]` are what they look like, the rest is text. */
export function looseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A word as the kind of value that is wanted: JSON, or a text; a list may have commas. */
export function valueFrom(kind: Kind | undefined, word: string | undefined): unknown {
  if (word === undefined || kind === undefined || kind.schema.type === "string") return word;
  if (kind.fromText !== undefined) return kind.fromText(word);
  if (kind.schema.type === "boolean" && /^[01]$/.test(word)) return word === "1";
  const value = looseValue(word);
  if (kind.schema.type !== "array" || Array.isArray(value)) return value;
  return word.split(",").map((item) => item.trim());
}
