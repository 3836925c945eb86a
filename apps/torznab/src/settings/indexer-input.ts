/** An indexer as the user describes it: in the file, or to the API. */
import type { CategoryMap } from "../client/categories.ts";
import { CATEGORIES_MAPPED_MAX } from "../limits.ts";
import type { IndexerLimits } from "../scheduler/limits-of.ts";
import {
  bool,
  durationMs,
  type Fields,
  fieldsOf,
  invalid,
  text,
  whole,
  windowsOf,
} from "./fields.ts";
import { hostName } from "./host-input.ts";

export interface IndexerInput {
  id: string;
  name: string;
  url: string;
  apiKey: string;
  /** Absent: as it was, and at first enabled. */
  enabled?: boolean;
  limits: IndexerLimits;
  /** Whose limits it shares. Absent: the host of its address. */
  host?: string;
  /** Its own categories, and what they are in the standard numbering. */
  categories?: CategoryMap;
  /** Newznab for usenet: its downloads are NZB files. Default torznab. */
  kind?: "torznab" | "newznab";
  /** The source that it was taken over from. */
  from?: string;
}

const KINDS = ["torznab", "newznab"] as const;

const KNOWN = [
  "id",
  "kind",
  "name",
  "url",
  "apiKey",
  "enabled",
  "interval",
  "floor",
  "windows",
  "grabs",
  "host",
  "categories",
] as const;

const NAME_MAX = 100;
const CATEGORY_MAX = 999_999_999;
const URL_MAX = 2_048;
const KEY_MAX = 512;
const DAY_MS = 86_400_000;

/** Parameters that some programs put their key into. */
const KEY_PARAMETERS = ["apikey", "passkey"];

export function parseIndexer(field: string, value: unknown): IndexerInput {
  const fields = fieldsOf(field, value, KNOWN);
  const { url, apiKey } = address(`${field}.url`, fields.url);
  const name =
    fields.name === undefined ? hostOf(url) : text(`${field}.name`, fields.name, NAME_MAX);
  return {
    id: fields.id === undefined ? slug(name) : idOf(`${field}.id`, fields.id),
    name,
    url,
    apiKey: fields.apiKey === undefined ? apiKey : keyOf(`${field}.apiKey`, fields.apiKey),
    ...(fields.enabled === undefined ? {} : { enabled: bool(`${field}.enabled`, fields.enabled) }),
    ...(fields.kind === undefined ? {} : { kind: kindOf(`${field}.kind`, fields.kind) }),
    ...(fields.host === undefined ? {} : { host: hostName(`${field}.host`, fields.host) }),
    ...(fields.categories === undefined
      ? {}
      : { categories: categoriesOf(`${field}.categories`, fields.categories) }),
    limits: limitsOf(field, fields),
  };
}

/** Such as `{ "100123": 5040 }`. */
function categoriesOf(field: string, value: unknown): CategoryMap {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const wanted = 'an object from its own numbers to standard ones, such as { "100123": 5040 }';
  if (!isObject) throw invalid(field, wanted, value);
  const entries = Object.entries(value);
  if (entries.length > CATEGORIES_MAPPED_MAX) {
    throw invalid(field, `of at most ${CATEGORIES_MAPPED_MAX} entries`, `${entries.length}`);
  }
  return Object.fromEntries(
    entries.map(([own, standard]) => {
      const id = whole(`${field} (a key)`, own, 1, CATEGORY_MAX);
      return [id, whole(`${field}.${id}`, standard, 1, CATEGORY_MAX)];
    }),
  );
}

function kindOf(field: string, value: unknown): (typeof KINDS)[number] {
  const kind = KINDS.find((one) => one === value);
  if (kind === undefined) throw invalid(field, KINDS.join(" or "), value);
  return kind;
}

/** Only what is mentioned. */
export function parseChange(field: string, value: unknown): Partial<Omit<IndexerInput, "id">> {
  // What it is does not change.
  const fields = fieldsOf(field, value, KNOWN.slice(2));
  const change: Partial<IndexerInput> = {};
  if (fields.url !== undefined) {
    const { url, apiKey } = address(`${field}.url`, fields.url);
    change.url = url;
    if (apiKey !== "") change.apiKey = apiKey;
  }
  if (fields.name !== undefined) change.name = text(`${field}.name`, fields.name, NAME_MAX);
  if (fields.apiKey !== undefined) change.apiKey = keyOf(`${field}.apiKey`, fields.apiKey);
  if (fields.enabled !== undefined) change.enabled = bool(`${field}.enabled`, fields.enabled);
  if (fields.host !== undefined) change.host = hostName(`${field}.host`, fields.host);
  if (fields.categories !== undefined) {
    change.categories = categoriesOf(`${field}.categories`, fields.categories);
  }
  const limits = limitsOf(field, fields);
  if (Object.keys(limits).length > 0) change.limits = limits;
  return change;
}

function limitsOf(field: string, fields: Fields): IndexerLimits {
  const { interval, floor, windows, grabs } = fields;
  return {
    ...(interval === undefined
      ? {}
      : { interval: durationMs(`${field}.interval`, interval, DAY_MS) }),
    ...(floor === undefined ? {} : { floor: durationMs(`${field}.floor`, floor, DAY_MS) }),
    ...(windows === undefined ? {} : { windows: windowsOf(`${field}.windows`, windows) }),
    ...(grabs === undefined ? {} : { grabs: windowsOf(`${field}.grabs`, grabs) }),
  };
}

/** The address as it may be kept: without a key that was copied along. */
export function address(field: string, value: unknown): { url: string; apiKey: string } {
  const given = text(field, value, URL_MAX);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.username !== "" || url.password !== "") {
    throw invalid(field, "an http or https address without a user name", withoutSecrets(given));
  }
  let apiKey = "";
  for (const name of [...url.searchParams.keys()]) {
    if (KEY_PARAMETERS.includes(name.toLowerCase())) apiKey = url.searchParams.get(name) ?? "";
  }
  url.search = "";
  url.hash = "";
  return { url: url.href, apiKey };
}

/** Neither query nor user name, which may hold a key. */
function withoutSecrets(address: string): string {
  return address.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");
}

export function keyOf(field: string, value: unknown): string {
  if (typeof value === "string" && value.length <= KEY_MAX) return value;
  throw invalid(field, `a text of at most ${KEY_MAX} characters`, value);
}

function idOf(field: string, value: unknown): string {
  if (typeof value === "string" && /^[a-z0-9][a-z0-9_-]{0,63}$/.test(value)) return value;
  throw invalid(field, "1 to 64 of a-z, 0-9, - and _, such as my-tracker", value);
}

function slug(name: string): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  return id === "" ? "indexer" : id;
}

/** Jackett's addresses name the tracker; elsewhere host and path do, as one host has several. */
function hostOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  return (
    /\/indexers\/([^/]+)\/results/.exec(pathname)?.[1] ??
    hostname + pathname.replace(/\/(api)?\/?$/, "")
  );
}
