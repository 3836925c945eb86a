import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caps } from "../xml/read-caps.ts";
import { isFeed, parseQuery, pruneQuery } from "./query.ts";

const CAPS: Caps = {
  title: "",
  limits: { default: 50, max: 100 },
  modes: { search: ["q"], tvsearch: ["q", "season", "ep", "tvdbid"], movie: ["imdbid"] },
  categories: [],
};

const pruned = (params: Record<string, unknown>): string =>
  decodeURIComponent(pruneQuery(parseQuery(params), CAPS).toString());

test("ids are cut down to what the indexer knows, and words are left out beside them", () => {
  assert.equal(
    pruned({ t: "tvsearch", q: "x", tvdbid: "7", rid: "8", season: "S02", ep: "3" }),
    "t=tvsearch&extended=1&tvdbid=7&season=2&ep=3",
  );
});

test("when no id is left the words come back", () => {
  assert.equal(
    pruned({ t: "tvsearch", q: "x", rid: "8", season: "2" }),
    "t=tvsearch&extended=1&q=x&season=2",
  );
});

test("season, episode and year become words where the indexer has no parameter", () => {
  const caps = { ...CAPS, modes: { tvsearch: ["q", "tvdbid"], movie: ["q"] } };
  for (const [params, wanted] of [
    [{ t: "tvsearch", q: "Show", season: "1", ep: "2" }, "q=Show+S01E02"],
    [{ t: "tvsearch", q: "Show", season: "S11" }, "q=Show+S11"],
    [{ t: "tvsearch", q: "Show", season: "2024", ep: "05/12" }, "q=Show+2024+05+12"],
    [{ t: "tvsearch", tvdbid: "7", season: "1", ep: "2" }, "q=S01E02&tvdbid=7"],
    [{ t: "movie", q: "Film", year: "1999" }, "q=Film+1999"],
  ] as const) {
    const got = pruneQuery(parseQuery(params), caps).toString();
    assert.equal(got, `t=${params.t}&extended=1&${wanted}`);
  }
});

test("an indexer that could only answer something else is skipped", () => {
  for (const params of [
    { t: "book", q: "x" },
    { t: "tvsearch", rid: "8" },
    { t: "movie", tmdbid: "8" },
    { t: "movie", q: "x" },
    { t: "movie", year: "1999" },
  ]) {
    assert.throws(() => pruned(params), { status: "skipped", penalty: "none" });
  }
});

test("a feed needs no words; limits are those of the indexer", () => {
  assert.equal(pruned({ t: "search", cat: "2000,5040" }), "t=search&extended=1&cat=2000,5040");
  assert.equal(pruned({ t: "movie", limit: "500" }), "t=movie&extended=1&limit=100");
  assert.equal(isFeed(parseQuery({ t: "movie", cat: "2000" })), true);
  assert.equal(isFeed(parseQuery({ t: "movie", imdbid: "tt0133093" })), false);
});

test("names are the same in any case, and an IMDb id with or without its letters", () => {
  for (const imdbid of ["tt0133093", "0133093"]) {
    assert.deepEqual(parseQuery({ T: "movie", ImdbId: imdbid, unknown: "x" }), {
      mode: "movie",
      fields: { imdbid: "0133093" },
    });
  }
});

test("empty parts of cat are left out", () => {
  assert.deepEqual(parseQuery({ cat: "5040,,2000," }).cat, [2000, 5040]);
  assert.equal(parseQuery({ cat: "," }).cat, undefined);
});

test("an empty function is none, and a number that is too large is refused as such", () => {
  for (const t of [undefined, "", " "]) assert.equal(parseQuery({ t }).mode, "search");
  const message = 'offset must be a whole number of 1 to 9 digits, got "1000000000"';
  assert.throws(() => parseQuery({ offset: "1000000000" }), { message });
  assert.equal(parseQuery({ offset: "999999999" }).offset, 999_999_999);
});

test("an invalid search is refused, and the error names the field", () => {
  for (const [params, field] of [
    [{ t: "details" }, "t"],
    [{ q: "x".repeat(513) }, "q"],
    [{ cat: "1,x" }, "cat"],
    [{ cat: Array.from({ length: 101 }, (_, i) => i).join() }, "cat"],
    [{ limit: "-1" }, "limit"],
    [{ t: "movie", imdbid: "0" }, "imdbid"],
    [{ t: "tvsearch", tvdbid: "x" }, "tvdbid"],
    [{ t: "tvsearch", season: "x" }, "season"],
  ] as const) {
    assert.throws(() => parseQuery(params), { field });
  }
  assert.equal(parseQuery({ q: "x".repeat(512) }).q!.length, 512);
});
