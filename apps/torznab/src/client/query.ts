/** A search in the protocol's words, checked, and cut down to what an indexer can do. */
import { CATEGORIES_MAX, QUERY_CHARS_MAX } from "../limits.ts";
import { type Caps, MODES, type Mode } from "../xml/read-caps.ts";
import { TorznabFault } from "./torznab-fault.ts";

export interface SearchQuery {
  mode: Mode;
  q?: string;
  cat?: number[];
  limit?: number;
  offset?: number;
  /** Everything else that the mode knows: ids, season, artist, ... */
  fields?: Record<string, string>;
}

/** Each names one work: any of them is enough. */
const IDS = ["imdbid", "tmdbid", "tvdbid", "tvmazeid", "rid", "traktid", "doubanid"] as const;

const ALWAYS = ["minsize", "maxsize", "maxage", "sort", "tag"] as const;

const FIELDS: Readonly<Record<Mode, readonly string[]>> = {
  search: [],
  tvsearch: [...IDS, "season", "ep", "year", "genre"],
  movie: ["imdbid", "tmdbid", "traktid", "doubanid", "year", "genre"],
  music: ["artist", "album", "label", "track", "year", "genre"],
  book: ["title", "author", "publisher", "year", "genre"],
};

/** Every parameter that some search knows. */
export const QUERY_FIELDS: readonly string[] = [
  ...new Set(["t", "q", "cat", "limit", "offset", ...Object.values(FIELDS).flat(), ...ALWAYS]),
];

/** A search has an invalid field or value. */
export class QueryError extends Error {
  readonly field: string;
  readonly value: string;

  constructor(field: string, wanted: string, value: unknown) {
    const text = String(value).slice(0, 100);
    super(`${field} must be ${wanted}, got ${JSON.stringify(text)}`);
    this.name = "QueryError";
    this.field = field;
    this.value = text;
  }
}

/** Reads parameters as they stand in a URL or a body; what no search knows is left out. */
export function parseQuery(params: Readonly<Record<string, unknown>>): SearchQuery {
  const given = lowerCase(params);
  const mode = given.get("t")?.toLowerCase() || "search";
  if (!isMode(mode)) throw new QueryError("t", `one of ${MODES.join(", ")}`, mode);
  const query: SearchQuery = { mode };
  const q = given.get("q");
  if (q !== undefined && q !== "") query.q = shortText("q", q);
  const cat = given.get("cat");
  const wanted = cat === undefined ? [] : categories(cat);
  if (wanted.length > 0) query.cat = wanted;
  for (const name of ["limit", "offset"] as const) {
    const value = given.get(name);
    if (value !== undefined && value !== "") query[name] = integer(name, value);
  }
  const fields: Record<string, string> = {};
  for (const name of [...FIELDS[mode], ...ALWAYS]) {
    const value = given.get(name);
    if (value !== undefined && value !== "") fields[name] = field(name, value);
  }
  if (Object.keys(fields).length > 0) query.fields = fields;
  return query;
}

/** A feed asks for what is new: no words and no ids. */
export function isFeed({ q, fields = {} }: SearchQuery): boolean {
  return q === undefined && Object.keys(fields).every((name) => ALWAYS.includes(name as "sort"));
}

/**
 * What of a search this indexer understands. Ids say more than words, so words are left out beside
 * them and come back when no id is left. An indexer that could only answer something else is
 * skipped.
 */
export function pruneQuery(query: SearchQuery, caps: Caps): URLSearchParams {
  const supported = caps.modes[query.mode];
  if (supported === undefined) throw unable(`has no ${query.mode}`);
  const words = supported.includes("q") ? foldedOf(query, supported) : new Map<string, string>();
  const fields = Object.entries(query.fields ?? {}).filter(
    ([name]) => !words.has(name) && (supported.includes(name) || ALWAYS.includes(name as "sort")),
  );
  const hasIds = fields.some(([name]) => isId(name));
  const wantsIds = Object.keys(query.fields ?? {}).some(isId);
  const plain = (hasIds && words.size === 0) || !supported.includes("q") ? undefined : query.q;
  const isNamed = plain !== undefined || hasIds;
  const q = isNamed ? [plain, ...words.values()].filter(Boolean).join(" ") || undefined : undefined;
  const narrows = q !== undefined || fields.some(([name]) => !ALWAYS.includes(name as "sort"));
  if (wantsIds && !hasIds && q === undefined) throw unable("knows none of these ids");
  if (!narrows && !isFeed(query)) throw unable("understands no part of this search");
  const params = new URLSearchParams({ t: query.mode, extended: "1" });
  if (q !== undefined) params.set("q", q);
  for (const [name, value] of fields) params.set(name, value);
  if (query.cat !== undefined) params.set("cat", query.cat.join(","));
  const limit = query.limit === undefined ? undefined : Math.min(query.limit, caps.limits.max);
  if (limit !== undefined) params.set("limit", String(limit));
  if (query.offset !== undefined) params.set("offset", String(query.offset));
  return params;
}

/**
 * Season, episode and year as words, where the indexer has no parameter for them: without them the
 * answer would be a page of the whole series. By the name of the parameter that each replaces.
 */
function foldedOf({ fields = {} }: SearchQuery, supported: readonly string[]): Map<string, string> {
  const words = new Map<string, string>();
  const { season, ep, year } = fields;
  const given = Object.entries({ season, ep }).filter(([, value]) => value !== undefined);
  if (given.some(([name]) => !supported.includes(name))) {
    const isDaily = season?.length === 4;
    const parts = isDaily
      ? [season, ep?.replaceAll("/", " ")]
      : [numbered("S", season), numbered("E", ep)];
    words.set("season", parts.filter(Boolean).join(isDaily ? " " : ""));
    words.set("ep", "");
  }
  if (year !== undefined && !supported.includes("year")) words.set("year", year);
  return words;
}

function numbered(letter: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : letter + value.replace(/^[a-z]/i, "").padStart(2, "0");
}

function unable(why: string): TorznabFault {
  return new TorznabFault(`the indexer ${why}`, { kind: "unsupported", status: "skipped" });
}

function isId(name: string): boolean {
  return (IDS as readonly string[]).includes(name);
}

function isMode(value: string): value is Mode {
  return (MODES as readonly string[]).includes(value);
}

/** Names of parameters are the same in any case; the first of several counts. */
function lowerCase(params: Readonly<Record<string, unknown>>): Map<string, string> {
  const map = new Map<string, string>();
  for (const [name, value] of Object.entries(params)) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    const isText = typeof first === "string" || typeof first === "number";
    if (isText && !map.has(name.toLowerCase())) map.set(name.toLowerCase(), String(first).trim());
  }
  return map;
}

function shortText(name: string, value: string): string {
  if (value.length <= QUERY_CHARS_MAX) return value;
  throw new QueryError(name, `at most ${QUERY_CHARS_MAX} characters`, value);
}

function categories(value: string): number[] {
  const parts = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (parts.length > CATEGORIES_MAX) {
    throw new QueryError("cat", `at most ${CATEGORIES_MAX} categories`, value);
  }
  // Any of them will do, so that their order means nothing.
  return [...new Set(parts.map((part) => integer("cat", part)))].sort((a, b) => a - b);
}

function integer(name: string, value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new QueryError(name, "a whole number of 1 to 9 digits", value);
}

/** With or without the letters in front, an id of IMDb is a number that is not zero. */
function field(name: string, value: string): string {
  if (name === "imdbid") {
    const digits = value.replace(/^tt/i, "");
    if (/^\d{1,10}$/.test(digits) && Number(digits) > 0) return digits;
    throw new QueryError(name, "an id such as tt0133093", value);
  }
  if (isId(name)) return String(integer(name, value));
  if (name === "season") return String(integer(name, value.replace(/^s(?=\d)/i, "")));
  return shortText(name, value);
}
