/** One list from the answers of many indexers. */
import type { Found } from "./found.ts";

export interface Merged extends Found {
  /** All indexers that have it, the one it was taken from first. */
  readonly from: readonly { readonly id: string; readonly name: string }[];
}

/** What names a release to everybody is an address, or as long as a hash. */
const GUID_CHARS_MIN = 32;

/** The same infohash is the same release, and so is the same guid; the best seeded one is kept. */
export function merge(found: readonly Found[]): Merged[] {
  const kept: Merged[] = [];
  const places = new Map<string, number>();
  for (const release of found) {
    const keys = keysOf(release);
    const place = keys.map((key) => places.get(key)).find((at) => at !== undefined);
    if (place === undefined) kept.push({ ...release, from: [release.indexer] });
    else kept[place] = joined(kept[place]!, release);
    for (const key of keys) places.set(key, place ?? kept.length - 1);
  }
  return kept.sort(newestFirst);
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
