/**
 * A form made from a table of options: texts and ticks by their paths, such as `retry.min` or
 * `windows[0].per`. The same kinds check them here that check them on the server.
 */
import { durationText, type Kind, type Parts, SluiceError } from "@sluice/protocol";

export type Draft = Readonly<Record<string, string | boolean>>;
export type FieldErrors = Readonly<Record<string, string>>;

export type Control = "flag" | "choice" | "text" | "lines" | "group" | "items";

type Values = Readonly<Record<string, unknown>>;
type Form = { readonly type?: unknown; readonly enum?: readonly string[] };

/** The forms that a value may have. */
function formsOf({ schema }: Kind): readonly Form[] {
  return ((schema.anyOf as readonly Form[] | undefined) ?? [schema]).filter(
    ({ type }) => type !== "null",
  );
}

const has = (kind: Kind, type: string): boolean =>
  formsOf(kind).some((form) => [form.type].flat().includes(type));

export function controlOf(kind: Kind): Control {
  const forms = formsOf(kind);
  if (kind.parts !== undefined) return has(kind, "array") ? "items" : "group";
  if (forms.every(({ type }) => type === "boolean")) return "flag";
  if (choicesOf(kind).length > 0) return "choice";
  return forms.every(({ type }) => type === "object") ? "lines" : "text";
}

export function choicesOf(kind: Kind): readonly string[] {
  return formsOf(kind).length === 1 ? (formsOf(kind)[0]!.enum ?? []) : [];
}

const ACRONYMS: ReadonlySet<string> = new Set(["dlq", "ttl"]);

/** `promoteAfter` for people: "Promote after". */
export function labelOf(name: string): string {
  if (ACRONYMS.has(name)) return name.toUpperCase();
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words[0]!.toUpperCase() + words.slice(1);
}

/** One of a list, within a sentence: a tier of the tiers. */
export const itemOf = (name: string): string => labelOf(name).toLowerCase().replace(/s$/, "");

/** What may be given, and what holds when nothing is. */
export function rangeOf({ kind, default: absent, reckoned, isRequired }: Parts[string]): string {
  const words = kind.words.replace(/, or null$/, "");
  if (isRequired === true) return words;
  if (kind.isNullable === true) return `${words}; empty: off`;
  const value = reckoned ?? (absent === undefined ? "none" : textOf(kind, absent));
  return `${words}; default: ${value.replaceAll("`", "") || "none"}`;
}

/** What a form shows of settings as they are answered. */
export function draftOf(rows: Parts, settings: Values, at = ""): Draft {
  const draft: Record<string, string | boolean> = {};
  for (const [name, { kind, default: absent }] of Object.entries(rows)) {
    const path = at + name;
    const value = settings[name];
    const control = controlOf(kind);
    if (control === "group") {
      Object.assign(draft, draftOf(kind.parts!, (value ?? {}) as Values, `${path}.`));
    } else if (control === "items") {
      for (const [i, item] of ((value ?? []) as readonly Values[]).entries()) {
        Object.assign(draft, draftOf(kind.parts!, item, `${path}[${i}].`));
      }
    } else draft[path] = control === "flag" ? (value ?? absent) === true : textOf(kind, value);
  }
  return draft;
}

/** How many items of a list a form has. */
export function countOf(draft: Draft, path: string): number {
  const indexes = Object.keys(draft)
    .filter((key) => key.startsWith(`${path}[`))
    .map((key) => Number.parseInt(key.slice(path.length + 1), 10));
  return indexes.length === 0 ? 0 : Math.max(...indexes) + 1;
}

export function withItem(draft: Draft, path: string, rows: Parts): Draft {
  return { ...draft, ...draftOf(rows, {}, `${path}[${countOf(draft, path)}].`) };
}

export function withoutItem(draft: Draft, path: string, index: number): Draft {
  const kept = Object.entries(draft).flatMap(([key, value]): [string, string | boolean][] => {
    if (!key.startsWith(`${path}[`)) return [[key, value]];
    const at = Number.parseInt(key.slice(path.length + 1), 10);
    if (at === index) return [];
    const rest = key.slice(key.indexOf("]", path.length));
    return [[`${path}[${at > index ? at - 1 : at}${rest}`, value]];
  });
  return Object.fromEntries(kept);
}

export interface Reading {
  /** The options that the form says. */
  readonly value: Record<string, unknown>;
  readonly errors: FieldErrors;
}

/** What the form says. An empty field is off, or its default. */
export function readDraft(rows: Parts, draft: Draft, at = ""): Reading {
  const value: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [name, row] of Object.entries(rows)) {
    const path = at + name;
    const part = readField(row, draft, path, errors);
    if (part === undefined) continue;
    value[name] = part;
    if (part === null || Object.keys(errors).some((key) => key.startsWith(path))) continue;
    check(row.kind, path, part, errors);
  }
  return { value, errors };
}

function readField(
  row: Parts[string],
  draft: Draft,
  path: string,
  errors: Record<string, string>,
): unknown {
  const { kind } = row;
  const control = controlOf(kind);
  const empty = kind.isNullable === true ? null : row.default;
  if (control === "group") {
    const isEmpty = Object.keys(kind.parts!).every((part) => draft[`${path}.${part}`] === "");
    if (isEmpty) return empty;
    return readParts(kind.parts!, draft, `${path}.`, errors);
  }
  if (control === "items") {
    const count = countOf(draft, path);
    if (count === 0) return empty;
    return Array.from({ length: count }, (_, i) =>
      readParts(kind.parts!, draft, `${path}[${i}].`, errors),
    );
  }
  const said = draft[path];
  if (typeof said === "boolean") return said;
  const text = said?.trim() ?? "";
  if (text !== "") return control === "lines" ? linesFrom(text) : valueFrom(kind, text);
  if (row.isRequired === true) errors[path] = `must be ${kind.words}`;
  return empty;
}

function readParts(
  rows: Parts,
  draft: Draft,
  at: string,
  errors: Record<string, string>,
): Record<string, unknown> {
  const { value, errors: inner } = readDraft(rows, draft, at);
  Object.assign(errors, inner);
  return value;
}

function check(kind: Kind, path: string, value: unknown, errors: Record<string, string>): void {
  try {
    kind.parse(path, value);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const field = String(error.details.field ?? path);
    errors[field] = error.message.replace(`${field} `, "");
  }
}

/** Options that changed; each is as a whole what the form says. */
export function changesOf(
  before: Values,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed);
}

const isDuration = (kind: Kind): boolean => kind.words.startsWith("a duration");

const isMoment = (kind: Kind): boolean => kind.words.includes("a Date");

function numberText(kind: Kind, value: number): string {
  if (isMoment(kind)) return new Date(value).toISOString();
  return isDuration(kind) ? durationText(value) : String(value);
}

function textOf(kind: Kind, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return numberText(kind, value);
  if (typeof value === "string") return value;
  if (controlOf(kind) === "lines") {
    return Object.entries(value)
      .map(([key, one]) => `${key} = ${one}`)
      .join("\n");
  }
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = kind.schema.items as Form | undefined;
  const isLength = items !== undefined && items.type === undefined && !isMoment(kind);
  const one = (item: unknown): string => {
    if (typeof item === "number" && !isLength) return numberText(kind, item);
    return isLength ? durationText(item as number) : String(item);
  };
  return value.map(one).join(", ");
}

/** A list is written with commas. */
function valueFrom(kind: Kind, text: string): unknown {
  if (kind.schema.type === "array" || (has(kind, "array") && /^[\d\s,]*,[\d\s,]*$/.test(text))) {
    const items = text.split(",").map((item) => item.trim());
    return (kind.schema.items as Form | undefined)?.type === "string"
      ? items
      : items.map(looseValue);
  }
  return formsOf(kind).every(({ type }) => type === "string") ? text : looseValue(text);
}

function linesFrom(text: string): Record<string, unknown> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.lastIndexOf("=");
      const key = cut < 0 ? line : line.slice(0, cut);
      return [key.trim(), looseValue(cut < 0 ? "" : line.slice(cut + 1).trim())];
    }),
  );
}

/** `5`, `false` and `["a"]` are what they look like, the rest is text. */
function looseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
