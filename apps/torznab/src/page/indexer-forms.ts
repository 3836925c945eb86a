/** Indexers and hosts as people type them into the page's forms. */
import type { AppField } from "sluice/http";
import type { IndexerRecord } from "../service/indexers.ts";
import type { HostRecord } from "../service/shared-limits.ts";
import { invalid } from "../settings/fields.ts";

const WINDOWS_HINT = "Such as 100/day, 10/minute. Empty: none.";

const KIND_OPTIONS = [
  { value: "torznab", label: "Torznab (torrents)" },
  { value: "newznab", label: "Newznab (usenet)" },
];

const SHARED: readonly AppField[] = [
  { name: "interval", label: "Interval", hint: "Such as 10s. Empty: 10 s, at least 2 s." },
  { name: "floor", label: "Floor", hint: "The least spacing of any priority, such as 2s." },
  { name: "windows", label: "Request limits", hint: WINDOWS_HINT },
  { name: "grabs", label: "Download limits", hint: WINDOWS_HINT },
  { name: "host", label: "Host", hint: "Whose limits it shares. Empty: that of its address." },
  {
    name: "categories",
    label: "Categories",
    hint: "Its own number = the standard one, such as 100123=5040, 100007=2000.",
  },
];

export const ADD_FIELDS: AppField[] = [
  { name: "url", label: "Address", hint: "The Torznab address that the program shows." },
  { name: "apiKey", label: "Key" },
  { name: "name", label: "Name", hint: "Empty: taken from the address." },
  { name: "kind", label: "Kind", value: "torznab", options: KIND_OPTIONS },
  ...SHARED,
];

export const EDIT_FIELDS: AppField[] = [
  { name: "url", label: "Address" },
  { name: "apiKey", label: "Key", hint: "Empty: the key stays as it is." },
  { name: "name", label: "Name" },
  ...SHARED,
];

export const HOST_FIELDS: AppField[] = [
  { name: "host", label: "Host", hint: "Such as localhost:9696." },
  { name: "interval", label: "Interval", hint: "Between the starts of two requests, such as 2s." },
  { name: "windows", label: "Request limits", hint: WINDOWS_HINT },
  { name: "concurrency", label: "Requests at once" },
];

/** What was typed, as the API takes it; empty fields are left out. */
export function indexerOf(values: Readonly<Record<string, string>>): Record<string, unknown> {
  const { windows = "", grabs = "", categories = "", ...plain } = values;
  return {
    ...given(plain),
    ...(windows === "" ? {} : { windows: windowsOf("windows", windows) }),
    ...(grabs === "" ? {} : { grabs: windowsOf("grabs", grabs) }),
    ...(categories === "" ? {} : { categories: categoriesOf(categories) }),
  };
}

/** The same for a change: an empty list of limits or categories removes them. */
export function changeOf(values: Readonly<Record<string, string>>): Record<string, unknown> {
  return { windows: [], grabs: [], categories: {}, ...indexerOf(values) };
}

export function hostLimitsOf(values: Readonly<Record<string, string>>): Record<string, unknown> {
  const { windows = "", ...plain } = values;
  const listed = windows === "" ? {} : { windows: windowsOf("windows", windows) };
  return { ...given(plain), ...listed };
}

/** An indexer as its form shows it; its key is never shown. */
export function shownIndexer({ url, name, limits, host, categories = {} }: IndexerRecord) {
  const { interval, floor, windows = [], grabs = [] } = limits;
  return {
    url,
    name,
    interval: interval === undefined ? "" : spelled(Number(interval)),
    floor: floor === undefined ? "" : spelled(Number(floor)),
    windows: windowsText(windows),
    grabs: windowsText(grabs),
    host: host ?? "",
    categories: Object.entries(categories)
      .map(([own, standard]) => `${own}=${standard}`)
      .join(", "),
  };
}

export function shownHost({ host, limits: { interval, windows = [], concurrency } }: HostRecord) {
  return {
    host,
    interval: interval === undefined ? "" : spelled(Number(interval)),
    windows: windowsText(windows),
    concurrency: concurrency === undefined ? "" : String(concurrency),
  };
}

export const given = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));

function windowsOf(field: string, typed: string): { limit: string; per: string }[] {
  return typed.split(",").map((part) => {
    const [, limit, per] = /^\s*(\d+)\s*(?:\/|per)\s*(\w+)\s*$/.exec(part) ?? [];
    if (limit === undefined || per === undefined) {
      throw invalid(field, "a list such as 100/day, 10/minute", typed);
    }
    return { limit, per };
  });
}

function categoriesOf(typed: string): Record<string, string> {
  const entries = typed.split(",").map((part) => {
    const [, own, standard] = /^\s*(\d+)\s*=\s*(\d+)\s*$/.exec(part) ?? [];
    if (own === undefined || standard === undefined) {
      throw invalid("categories", "a list such as 100123=5040, 100007=2000", typed);
    }
    return [own, standard];
  });
  return Object.fromEntries(entries);
}

const NAMED: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
];

/** A window's length by its name where it has one. */
export function perText(perMs: number): string {
  return NAMED.find(([ms]) => ms === perMs)?.[1] ?? spelled(perMs);
}

function windowsText(windows: readonly { limit: number; per: unknown }[]): string {
  return windows.map(({ limit, per }) => `${limit}/${perText(Number(per))}`).join(", ");
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
  [1, "ms"],
];

/** As a setting spells it: `90s`, `2h`. */
function spelled(ms: number): string {
  const [length, unit] = UNITS.find(([one]) => ms >= one && ms % one === 0) ?? [1, "ms"];
  return `${ms / length}${unit}`;
}

/** How long something lasts, for people: the largest unit that fits. */
export function about(ms: number): string {
  const [length, unit] = UNITS.find(([one]) => ms >= one) ?? [1, "ms"];
  return `${Math.round(ms / length)} ${unit === "m" ? "min" : unit}`;
}
