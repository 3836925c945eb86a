import assert from "node:assert/strict";
import { test } from "node:test";
import type { Found } from "./found.ts";
import { merge, mergeLists } from "./merge.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";

function found(from: string, guid: string, more: Partial<Found> = {}): Found {
  return {
    title: guid,
    guid,
    downloadFactor: 1,
    uploadFactor: 1,
    categories: [],
    attributes: [],
    indexer: { id: from, name: from },
    ...more,
  };
}

const shown = (all: readonly Found[]): string[] =>
  merge(all).map(({ guid, from }) => `${guid} ${from.map(({ id }) => id).join("+")}`);

test("the same hash or the same address is one release, the better seeded one is kept", () => {
  const all = [
    found("a", "http://x/1", { infohash: HASH, seeders: 1, publishedAt: 5 }),
    found("b", "http://y/7", { infohash: HASH, seeders: 9, publishedAt: 4 }),
    found("c", "http://x/1", { seeders: 2 }),
    found("d", "http://x/2", { publishedAt: 9 }),
  ];
  assert.deepEqual(shown(all), ["http://x/2 d", "http://y/7 b+a+c"]);
  assert.equal(merge(all)[1]!.indexer.id, "b");
});

test("a number that two indexers use is two releases, of one indexer it is one", () => {
  const all = [found("a", "17"), found("b", "17"), found("a", "17"), found("a", HASH)];
  assert.deepEqual(shown([...all, found("b", HASH)]), [`${HASH} a+b`, "17 a", "17 b"]);
});

test("newest first, what has no date last, and the same order each time", () => {
  const all = [
    found("a", "http://x/3"),
    found("a", "http://x/1", { publishedAt: 1 }),
    found("a", "http://x/2", { publishedAt: 2 }),
    found("a", "http://x/4", { seeders: 3 }),
  ];
  const order = ["http://x/2 a", "http://x/1 a", "http://x/4 a", "http://x/3 a"];
  assert.deepEqual(shown(all), order);
  assert.deepEqual(shown(all.toReversed()), order);
});

test("a joined release has the categories of every indexer that lists it", () => {
  const all = [
    found("a", "http://x/1", { infohash: HASH, seeders: 1, categories: [5040] }),
    found("b", "http://y/7", { infohash: HASH, seeders: 9, categories: [5000, 5040] }),
    found("c", "http://z/3", { infohash: HASH, seeders: 2, categories: [5045] }),
  ];
  assert.deepEqual(merge(all)[0]!.categories, [5000, 5040, 5045]);
});

test("further pages of a list change nothing before them", () => {
  const list = (id: string, count: number) =>
    Array.from({ length: count }, (_, i) => found(id, `http://${id}/${i}`, { seeders: i }));
  const short = mergeLists([list("a", 2), list("b", 2)], 2);
  const long = mergeLists([list("a", 6), list("b", 4)], 2);
  assert.deepEqual(long.slice(0, 4), short);
  assert.equal(new Set(long.map(({ guid }) => guid)).size, 10);
});
