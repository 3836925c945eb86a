/** One list from the answers of many indexers. */
import type { Found } from "./found.ts";

export interface Merged extends Found {
  /** All indexers that have it, the one it was taken from first. */
  readonly from: readonly { readonly id: string; readonly name: string }[];
}

/** What names a release to everybody is an address, or as long as a hash. */
const GUID_CHARS_MIN = 32;

/** One place in the list: the release in it may be replaced by a better seeded copy. */
interface Place {
  release: Merged;
}

/** The same infohash is the same release, and so is the same guid; the best seeded one is kept. */
export function merge(found: readonly Found[]): Merged[] {
  return mergeLists([found], found.length);
}

/**
 * Merges the lists of several indexers block by block: the first of each list, sorted, then the
 * next of each. So a list that grows by further pages changes nothing before them, and a client
 * that reads page by page sees each release once.
 */
export function mergeLists(lists: readonly (readonly Found[])[], blockSize: number): Merged[] {
  const places = new Map<string, Place>();
  const all: Place[] = [];
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let start = 0; start < longest; start += blockSize) {
    const block = lists.flatMap((list) => list.slice(start, start + blockSize));
    const added = addBlock(places, block);
    all.push(...added.sort((a, b) => newestFirst(a.release, b.release)));
  }
  return all.map(({ release }) => release);
}

/** Answers the places that are new. */
function addBlock(places: Map<string, Place>, block: readonly Found[]): Place[] {
  const added: Place[] = [];
  for (const release of block) {
    const keys = keysOf(release);
    let place = keys.map((key) => places.get(key)).find((one) => one !== undefined);
    if (place === undefined) {
      place = { release: { ...release, from: [release.indexer] } };
      added.push(place);
    } else {
      place.release = joined(place.release, release);
    }
    for (const key of keys) places.set(key, place);
  }
  return added;
}

function keysOf({ infohash, guid, indexer }: Found): string[] {
  // A number or a path says which release it is at this indexer, and another one elsewhere.
  const isForAll = /^[a-z][a-z0-9+.-]*:/i.test(guid) || guid.length >= GUID_CHARS_MIN;
  const own = isForAll ? `guid ${guid}` : `guid ${guid} of ${indexer.id}`;
  return infohash === undefined ? [own] : [`hash ${infohash}`, own];
}

function joined(kept: Merged, other: Found): Merged {
  const isBetter = (other.seeders ?? 0) > (kept.seeders ?? 0);
  const known = kept.from.some(({ id }) => id === other.indexer.id);
  const from = known ? kept.from : [...kept.from, other.indexer];
  // What any indexer lists in a category must be found there.
  const categories = [...new Set([...kept.categories, ...other.categories])].sort((a, b) => a - b);
  if (!isBetter) return { ...kept, categories, from };
  const others = from.filter(({ id }) => id !== other.indexer.id);
  return { ...other, categories, from: [other.indexer, ...others] };
}

/** What has no date comes last; the order is the same each time. */
function newestFirst(a: Merged, b: Merged): number {
  const byDate = (b.publishedAt ?? 0) - (a.publishedAt ?? 0);
  if (byDate !== 0) return byDate;
  const bySeeders = (b.seeders ?? 0) - (a.seeders ?? 0);
  return bySeeders !== 0 ? bySeeders : a.guid < b.guid ? -1 : a.guid > b.guid ? 1 : 0;
}
