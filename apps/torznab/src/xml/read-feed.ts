/** Releases from an RSS answer, whichever dialect wrote it. */
import { ITEM_ATTRIBUTES_MAX, TEXT_CHARS_MAX } from "../limits.ts";
import { child } from "./read-caps.ts";
import type { Element } from "./tree.ts";

export interface Release {
  title: string;
  guid: string;
  /** Where the torrent file is; it may hold a secret. */
  link?: string;
  magnet?: string;
  infohash?: string;
  comments?: string;
  /** Milliseconds; absent when the indexer does not know it, or says nonsense. */
  publishedAt?: number;
  sizeBytes?: number;
  files?: number;
  grabs?: number;
  seeders?: number;
  leechers?: number;
  peers?: number;
  downloadFactor: number;
  uploadFactor: number;
  categories: number[];
  /** All other attributes, repeats included. */
  attributes: [name: string, value: string][];
}

export interface Feed {
  offset: number;
  total: number | undefined;
  /** What the indexer says of its own limits. */
  apiLimits: { current?: number; max?: number } | undefined;
  releases: Release[];
}

/** They have a field of their own, or would only repeat one. */
const FIELDS = new Set([
  "size",
  "category",
  "guid",
  "files",
  "grabs",
  "seeders",
  "leechers",
  "peers",
  "infohash",
  "magneturl",
  "downloadvolumefactor",
  "uploadvolumefactor",
]);

const FACTOR_MAX = 10;

export function readFeed(root: Element, base: string): Feed {
  const channel = child(root, "channel") ?? root;
  const page = child(channel, "response")?.attributes;
  const limits = (child(channel, "apilimits") ?? child(channel, "limits"))?.attributes;
  return {
    offset: count(page?.get("offset")) ?? 0,
    total: count(page?.get("total")),
    apiLimits: limits === undefined ? undefined : apiLimitsOf(limits),
    releases: channel.children
      .filter(({ name }) => name === "item")
      .map((item) => readItem(item, base))
      .filter((release) => release !== undefined),
  };
}

function apiLimitsOf(limits: ReadonlyMap<string, string>): Feed["apiLimits"] {
  const current = count(limits.get("apicurrent"));
  const max = count(limits.get("apimax"));
  return { ...(current === undefined ? {} : { current }), ...(max === undefined ? {} : { max }) };
}

/** Undefined for an item without a name or a link. */
function readItem(item: Element, base: string): Release | undefined {
  const attrs = attributesOf(item);
  const title = textOf(item, "title");
  const links = linksOf(item, attrs, base);
  const named = textOf(item, "guid") || attrs.get("guid")?.[0] || links.link || links.magnet || "";
  // A path alone would be the same at every indexer that runs the same program.
  const guid = named.startsWith("/") ? (resolve(named, base) ?? named) : named;
  if (title === "" || guid === "") return undefined;
  const infohash = attrs.get("infohash")?.[0] ?? hashOf(links.magnet);
  const publishedAt = dateOf(textOf(item, "pubdate"));
  const sizeBytes = sizeOf(item, attrs);
  const comments = textOf(item, "comments");
  return {
    title,
    guid,
    ...links,
    ...(infohash !== undefined && /^[0-9a-f]{40}$|^[a-z2-7]{32}$/i.test(infohash)
      ? { infohash: infohash.toLowerCase() }
      : {}),
    ...(comments === "" ? {} : { comments }),
    ...(publishedAt === undefined ? {} : { publishedAt }),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...numbersOf(item, attrs),
    downloadFactor: factorOf(attrs.get("downloadvolumefactor")?.[0]),
    uploadFactor: factorOf(attrs.get("uploadvolumefactor")?.[0]),
    categories: categoriesOf(item, attrs),
    attributes: [...attrs].flatMap(([name, values]) =>
      FIELDS.has(name) ? [] : values.map((value): [string, string] => [name, value]),
    ),
  };
}

type Attributes = ReadonlyMap<string, readonly string[]>;

/** `attr` elements by name: repeats are lists, and the same value twice counts once. */
function attributesOf(item: Element): Attributes {
  const attributes = new Map<string, string[]>();
  let kept = 0;
  for (const { name, attributes: pair } of item.children) {
    const key = pair.get("name")?.toLowerCase();
    const value = pair.get("value")?.slice(0, TEXT_CHARS_MAX);
    if (name !== "attr" || key === undefined || value === undefined) continue;
    const values = attributes.get(key) ?? [];
    if (values.includes(value) || ++kept > ITEM_ATTRIBUTES_MAX) continue;
    attributes.set(key.slice(0, 64), [...values, value]);
  }
  return attributes;
}

function linksOf(item: Element, attrs: Attributes, base: string) {
  const enclosures = item.children.filter(({ name }) => name === "enclosure");
  const urls = [
    ...(attrs.get("magneturl") ?? []),
    ...enclosures.map(({ attributes }) => attributes.get("url") ?? ""),
    textOf(item, "link"),
  ].filter((url) => url !== "");
  const magnet = urls.find((url) => url.startsWith("magnet:"));
  const link = urls.map((url) => resolve(url, base)).find((url) => url !== undefined);
  return {
    ...(link === undefined ? {} : { link }),
    ...(magnet === undefined ? {} : { magnet }),
  };
}

/** Relative links belong to the address that answered. */
function resolve(url: string, base: string): string | undefined {
  try {
    const { protocol, href } = new URL(url, base);
    return protocol === "http:" || protocol === "https:" ? href : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(magnet: string | undefined): string | undefined {
  return /[?&]xt=urn:btih:([0-9a-zA-Z]{32,40})/.exec(magnet ?? "")?.[1];
}

/** The attribute is right; the length of the enclosure may be that of the torrent file, or 0. */
function sizeOf(item: Element, attrs: Attributes): number | undefined {
  const enclosure = child(item, "enclosure")?.attributes.get("length");
  const said = [attrs.get("size")?.[0], textOf(item, "size"), enclosure].map(count);
  return said.find((size) => size !== undefined && size > 0);
}

function numbersOf(item: Element, attrs: Attributes): Partial<Release> {
  const files = count(attrs.get("files")?.[0] ?? textOf(item, "files"));
  const grabs = count(attrs.get("grabs")?.[0] ?? textOf(item, "grabs"));
  return {
    ...(files === undefined ? {} : { files }),
    ...(grabs === undefined ? {} : { grabs }),
    ...swarmOf(attrs),
  };
}

/** Peers are seeders and leechers together, so two of the three give the third. */
function swarmOf(attrs: Attributes): Pick<Release, "seeders" | "leechers" | "peers"> {
  let seeders = count(attrs.get("seeders")?.[0]);
  let leechers = count(attrs.get("leechers")?.[0]);
  let peers = count(attrs.get("peers")?.[0]);
  if (peers === undefined && seeders !== undefined && leechers !== undefined) {
    peers = seeders + leechers;
  } else if (leechers === undefined && peers !== undefined && seeders !== undefined) {
    leechers = Math.max(0, peers - seeders);
  } else if (seeders === undefined && peers !== undefined && leechers !== undefined) {
    seeders = Math.max(0, peers - leechers);
  }
  return {
    ...(seeders === undefined ? {} : { seeders }),
    ...(leechers === undefined ? {} : { leechers }),
    ...(peers === undefined ? {} : { peers }),
  };
}

function categoriesOf(item: Element, attrs: Attributes): number[] {
  const named = item.children.filter(({ name }) => name === "category").map(({ text }) => text);
  const ids = [...(attrs.get("category") ?? []), ...named].map(count);
  return [...new Set(ids.filter((id): id is number => id !== undefined && id > 0))];
}

function factorOf(text: string | undefined): number {
  const factor = Number(text);
  const isSane = text !== undefined && text !== "" && factor >= 0 && factor <= FACTOR_MAX;
  return isSane ? factor : 1;
}

function dateOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isFinite(time) && time > 0 ? time : undefined;
}

function count(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

function textOf(item: Element, name: string): string {
  const element = item.children.find((one) => one.name === name && one.text !== "");
  return (element?.text ?? "").slice(0, TEXT_CHARS_MAX);
}
