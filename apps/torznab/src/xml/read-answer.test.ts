import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnswer } from "./read-answer.ts";
import type { Caps } from "./read-caps.ts";
import type { Release } from "./read-feed.ts";

const read = (text: string) =>
  readAnswer({ bytes: Buffer.from(text), contentType: undefined, base: "http://x/a/api" });

function caps(searching: string): Caps["modes"] {
  const answer = read(`<caps><searching>${searching}</searching></caps>`);
  assert.equal(answer.kind, "caps");
  return answer.kind === "caps" ? answer.caps.modes : {};
}

function item(inner: string): Release {
  const answer = read(
    `<rss xmlns:torznab="t"><channel><item><title>a</title><guid>g</guid>${inner}</item></channel></rss>`,
  );
  assert.ok(answer.kind === "feed" && answer.feed.releases.length === 1);
  return answer.feed.releases[0]!;
}

const attr = (name: string, value: string): string =>
  `<torznab:attr name="${name}" value="${value}"/>`;

test("a missing list of parameters means those of the protocol", () => {
  const nodes = ["search", "tv-search", "movie-search", "audio-search", "book-search"];
  assert.deepEqual(caps(nodes.map((node) => `<${node} available="yes"/>`).join("")), {
    search: ["q"],
    tvsearch: ["q", "rid", "season", "ep"],
    movie: ["q", "imdbid"],
    music: ["q"],
    book: ["q"],
  });
});

test("music has two nodes, and what is not available is not there", () => {
  const list = 'available="yes" supportedParams="q,artist"';
  assert.deepEqual(caps(`<music-search ${list}/>`), { music: ["q", "artist"] });
  assert.deepEqual(caps(`<audio-search ${list}/>`), { music: ["q", "artist"] });
  assert.deepEqual(caps('<search available="no"/><Book-Search available="YES"/>'), {
    book: ["q"],
  });
});

test("any two of seeders, leechers and peers give the third", () => {
  const known = { seeders: "3", leechers: "4", peers: "7" };
  for (const missing of ["seeders", "leechers", "peers"]) {
    const given = Object.entries(known).filter(([name]) => name !== missing);
    const { seeders, leechers, peers } = item(given.map(([n, v]) => attr(n, v)).join(""));
    assert.deepEqual([seeders, leechers, peers], [3, 4, 7], missing);
  }
  const { seeders, leechers, peers } = item(attr("seeders", "3"));
  assert.deepEqual([seeders, leechers, peers], [3, undefined, undefined]);
});

test("the size attribute beats the element, and both beat the enclosure", () => {
  const enclosure = '<enclosure url="/f" length="5"/>';
  assert.equal(item(`${enclosure}<size>6</size>${attr("size", "7")}`).sizeBytes, 7);
  assert.equal(item(`${enclosure}<size>6</size>`).sizeBytes, 6);
  assert.equal(item(enclosure).sizeBytes, 5);
  assert.equal(item(`${enclosure}${attr("size", "0")}`).sizeBytes, 5);
  assert.equal(item('<enclosure url="/f" length="0"/>').sizeBytes, undefined);
});

test("links: relative ones belong to the address that answered, a magnet is apart", () => {
  const { link, magnet } = item(`<link>../dl/1?a=b</link>${attr("magneturl", "magnet:?xt=urn")}`);
  assert.deepEqual([link, magnet], ["http://x/dl/1?a=b", "magnet:?xt=urn"]);
  assert.equal(item("<link>javascript:alert(1)</link>").link, undefined);
  const hash = "0123456789ABCDEF0123456789abcdef01234567";
  const found = item(`<link>magnet:?xt=urn:btih:${hash}</link>`);
  assert.deepEqual([found.infohash, found.link], [hash.toLowerCase(), undefined]);
  const path = read("<rss><channel><item><title>a</title><guid>/d/1</guid></item></channel></rss>");
  assert.equal(path.kind === "feed" && path.feed.releases[0]!.guid, "http://x/d/1");
});

test("attributes repeat, the same value counts once, and odd factors count as 1", () => {
  const release = item(
    [
      attr("category", "5000"),
      attr("category", "5040"),
      attr("category", "5040"),
      attr("tag", "a"),
      attr("TAG", "b"),
      attr("downloadvolumefactor", "0"),
      attr("uploadvolumefactor", "99999"),
      "<pubDate>never</pubDate>",
    ].join(""),
  );
  assert.deepEqual(release.categories, [5000, 5040]);
  assert.deepEqual(release.attributes, [
    ["tag", "a"],
    ["tag", "b"],
  ]);
  assert.deepEqual([release.downloadFactor, release.uploadFactor], [0, 1]);
  assert.equal(release.publishedAt, undefined);
});

test("an error element, declared or not, in any case, with or without its attributes", () => {
  const declared = '<?xml version="1.0"?>\n<!-- odd -->\n';
  for (const [text, code, description] of [
    ['<error code="100" description="no"/>', 100, "no"],
    [`${declared}<error code="201" description="a &amp; b"/>`, 201, "a & b"],
    ['<Error Code="900">in words</Error>', 900, "in words"],
    ["<error/>", undefined, ""],
    ['<error code="many"/>', undefined, ""],
  ] as const) {
    assert.deepEqual(read(text), { kind: "error", code, description });
  }
});
