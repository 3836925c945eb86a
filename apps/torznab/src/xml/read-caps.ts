/** What an indexer can do, from its `caps` document. */
import type { Element } from "./tree.ts";

/** The functions of the protocol that search. */
export const MODES = ["search", "tvsearch", "movie", "music", "book"] as const;

export type Mode = (typeof MODES)[number];

export interface Category {
  id: number;
  name: string;
  subs: { id: number; name: string }[];
}

export interface Caps {
  title: string;
  limits: { default: number; max: number };
  /** The parameters of each function that it has. */
  modes: Partial<Record<Mode, string[]>>;
  categories: Category[];
}

/** The nodes of each function: `music` has two names in the wild. */
const NODES: Readonly<Record<Mode, readonly string[]>> = {
  search: ["search"],
  tvsearch: ["tv-search"],
  movie: ["movie-search"],
  music: ["music-search", "audio-search"],
  book: ["book-search"],
};

/** What is meant when the list of parameters is missing. */
const DEFAULTS: Readonly<Record<Mode, readonly string[]>> = {
  search: ["q"],
  tvsearch: ["q", "rid", "season", "ep"],
  movie: ["q", "imdbid"],
  music: ["q"],
  book: ["q"],
};

const PARAMETERS_MAX = 64;
const CATEGORIES_KEPT = 2_000;
const PAGE_DEFAULT = 100;

export function readCaps(root: Element): Caps {
  const searching = child(root, "searching");
  const modes: Caps["modes"] = {};
  for (const mode of MODES) {
    const params = paramsOf(mode, searching);
    if (params !== undefined) modes[mode] = params;
  }
  const limits = child(root, "limits")?.attributes;
  const page = positive(limits?.get("default")) ?? PAGE_DEFAULT;
  return {
    title: child(root, "server")?.attributes.get("title") ?? "",
    limits: { default: page, max: positive(limits?.get("max")) ?? page },
    modes,
    categories: categoriesOf(child(root, "categories")),
  };
}

/** Without a word on searching at all, plain search is what every indexer has. */
function paramsOf(mode: Mode, searching: Element | undefined): string[] | undefined {
  if (searching === undefined) return mode === "search" ? [...DEFAULTS.search] : undefined;
  const nodes = searching.children.filter(({ name }) => NODES[mode].includes(name));
  const node = nodes.find(({ attributes }) => isYes(attributes.get("available")));
  if (node === undefined) return undefined;
  const listed = node.attributes.get("supportedparams");
  if (listed === undefined) return [...DEFAULTS[mode]];
  const params = listed.toLowerCase().split(/[\s,]+/);
  return params.filter((param) => /^[a-z]{1,20}$/.test(param)).slice(0, PARAMETERS_MAX);
}

function isYes(value: string | undefined): boolean {
  return value === undefined || /^(yes|true|1)$/i.test(value);
}

function categoriesOf(node: Element | undefined): Category[] {
  const all = (node?.children ?? []).filter(({ name }) => name === "category");
  return all.slice(0, CATEGORIES_KEPT).flatMap((element) => {
    const own = named(element);
    if (own === undefined) return [];
    const subs = element.children.filter(({ name }) => name === "subcat").map(named);
    return [{ ...own, subs: subs.filter((sub) => sub !== undefined).slice(0, CATEGORIES_KEPT) }];
  });
}

function named({ attributes }: Element): { id: number; name: string } | undefined {
  const id = positive(attributes.get("id"));
  return id === undefined ? undefined : { id, name: (attributes.get("name") ?? "").slice(0, 100) };
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

export function child(element: Element, name: string): Element | undefined {
  return element.children.find((one) => one.name === name);
}
