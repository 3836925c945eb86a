/** What the service can do: all that any of its indexers can. */
import { PAGE_ITEMS_MAX, PAGE_ITEMS_USUAL } from "../limits.ts";
import { type Caps, type Category, MODES } from "../xml/read-caps.ts";
import type { IndexerRecord } from "./indexers.ts";
import { pageSizeOf } from "./pages.ts";

/** While nothing is known of any indexer: what every client asks for first. */
const USUAL: Caps["modes"] = {
  search: ["q"],
  tvsearch: ["q", "season", "ep"],
  movie: ["q", "imdbid"],
  music: ["q"],
  book: ["q"],
};

const USUAL_CATEGORIES = [
  [1000, "Console"],
  [2000, "Movies"],
  [3000, "Audio"],
  [4000, "PC"],
  [5000, "TV"],
  [6000, "Adult"],
  [7000, "Books"],
  [8000, "Other"],
] as const;

/** From here on numbers are those of one site. */
const CUSTOM_MIN = 100_000;

export function ownCaps(title: string, records: readonly IndexerRecord[]): Caps {
  const known = records.map(({ caps }) => caps).filter((caps) => caps !== undefined);
  // The most that one request to each indexer may bring.
  const pages = known.map(pageSizeOf);
  const max = Math.min(PAGE_ITEMS_MAX, Math.max(PAGE_ITEMS_USUAL, ...pages));
  const limits = { default: PAGE_ITEMS_USUAL, max };
  if (known.length === 0) {
    const categories = USUAL_CATEGORIES.map(([id, name]) => ({ id, name, subs: [] }));
    return { title, limits, modes: USUAL, categories };
  }
  const modes: Caps["modes"] = {};
  for (const mode of MODES) {
    const params = known.flatMap((caps) => caps.modes[mode] ?? []);
    if (known.some((caps) => caps.modes[mode] !== undefined)) modes[mode] = [...new Set(params)];
  }
  const categories = [...known.flatMap((caps) => caps.categories), ...records.flatMap(mappedOf)];
  return { title, limits, modes, categories: joinCategories(categories) };
}

/** Standard categories that an indexer has only by the user's mapping, named as its own ones. */
function mappedOf({ caps, categories = {} }: IndexerRecord): Category[] {
  const own = (caps?.categories ?? []).flatMap((category) => [category, ...category.subs]);
  return Object.entries(categories).map(([from, to]) => {
    const name = own.find(({ id }) => id === Number(from))?.name ?? String(to);
    const parent = to < CUSTOM_MIN ? to - (to % 1_000) : to;
    const usual = USUAL_CATEGORIES.find(([id]) => id === parent)?.[1] ?? name;
    return { id: parent, name: usual, subs: parent === to ? [] : [{ id: to, name }] };
  });
}

function joinCategories(all: readonly Category[]): Category[] {
  const joined = new Map<number, Category>();
  for (const { id, name, subs } of all) {
    const before = joined.get(id);
    const merged = new Map([...subs, ...(before?.subs ?? [])].map((sub) => [sub.id, sub]));
    joined.set(id, { id, name: before?.name ?? name, subs: [...merged.values()] });
  }
  return [...joined.values()].sort((a, b) => a.id - b.id);
}
