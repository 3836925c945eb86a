import assert from "node:assert/strict";
import { test } from "node:test";
import { openIndexer, start } from "../testing/start.ts";
import { until } from "../testing/until.ts";

const IGNORED = new Set(["apikey", "extended", "limit"]);

test("five functions reach each indexer in the words that it knows", async (t) => {
  const app = await start(t, { settings: { cacheTtlMs: 0 } });
  const jackett = await openIndexer(t, { dialect: "jackett" });
  const newznab = await openIndexer(t, { dialect: "newznab" });
  await app.add(jackett, "j");
  await app.add(newznab, "n");
  for (const id of ["j", "n"]) await app.service.test(id);
  const sent = (server: typeof jackett): string => {
    const { params } = server.requests.at(-1)!;
    const shown = [...params].filter(([name]) => !IGNORED.has(name));
    return shown.map(([name, value]) => `${name}=${value}`).join("&");
  };
  for (const [asked, first, second] of [
    ["t=search&q=x&cat=5040,2000", "t=search&q=x&cat=2000,5040", "t=search&q=x&cat=2000,5040"],
    // Ids go alone; who knows none of them gets the words instead.
    [
      "t=tvsearch&q=x&tvdbid=7&season=S02",
      "t=tvsearch&tvdbid=7&season=2",
      "t=tvsearch&q=x&season=2",
    ],
    [
      "t=movie&imdbid=tt0133093&tmdbid=603",
      "t=movie&imdbid=0133093&tmdbid=603",
      "t=movie&imdbid=0133093",
    ],
    ["t=music&artist=y&label=z", "t=music&artist=y", undefined],
    ["t=book&title=y&author=z", "t=book&title=y&author=z", undefined],
  ] as const) {
    const before = newznab.requests.length;
    const { status, body } = await app.call(`GET /api?${asked}`);
    assert.equal(status, 200, body);
    assert.equal(sent(jackett), first, asked);
    if (second === undefined) assert.equal(newznab.requests.length, before, asked);
    else assert.equal(sent(newznab), second, asked);
  }
});

test("activity lists waiting, running and cooling indexers, with reason and time", async (t) => {
  const app = await start(t);
  const slow = await openIndexer(t);
  const cooling = await openIndexer(t);
  await app.add(slow, "slow");
  await app.add(cooling, "cooling");
  for (const id of ["slow", "cooling"]) await app.service.test(id);
  assert.deepEqual((await app.call("GET /activity")).body, {
    queued: [],
    running: [],
    cooling: [],
  });
  slow.fault = "silent";
  const first = app.service.search({ query: { mode: "search", q: "x" }, indexers: ["slow"] });
  await until(() => slow.count("search") === 1);
  await app.service.parts.sluice.gate("indexer:cooling").cooldown("30s", "HTTP 503");
  const query = { mode: "search", q: "y" } as const;
  const second = await app.service.searchDurably({ query, priority: "completion" });
  const { queued, running, cooling: cold } = (await app.call("GET /activity")).body;
  const now = Date.now();
  const brief = ({ indexer, search, priority }: Record<string, string>) =>
    `${indexer} ${search === first.id ? 1 : 2} ${priority}`;
  assert.deepEqual(running.map(brief), ["slow 1 interactive"]);
  assert.deepEqual(queued.map(brief).sort(), ["cooling 2 completion", "slow 2 completion"]);
  const waits = queued.find(({ indexer }: { indexer: string }) => indexer === "cooling");
  assert.match(waits.reason, /Gate indexer:cooling is cooled down for another/);
  assert.ok(Math.abs(waits.until - now - 30_000) < 5_000);
  assert.deepEqual([cold.length, cold[0].indexer, cold[0].reason], [1, "cooling", "HTTP 503"]);
  await app.service.cancel(first.id);
  await app.service.cancel(second.id);
  await Promise.all([first.done, second.done]);
});

test("a link to a magnet is a redirect to it; a page in its place is an error", async (t) => {
  const app = await start(t);
  const items = [
    { title: "m", guid: "magnet-1", sizeBytes: 1, seeders: 1, peers: 1, category: 2000 },
  ];
  const server = await openIndexer(t, { dialect: "newznab", apiKey: "the-key", items });
  await app.add(server, "a");
  const { body } = await app.call("GET /api?t=search&q=m");
  const path = /<link>[^<]*(\/download\/[^<]*)<\/link>/.exec(body)![1]!;
  const { status, headers } = await app.call(`GET ${path}`);
  assert.deepEqual([status, headers.get("location")], [302, "magnet:?xt=urn:btih:aaaa"]);
  server.fault = "html";
  const page = await app.call(`GET ${path}`);
  assert.deepEqual([page.status, page.body.error.code], [503, "DISCONNECTED"]);
  await app.call("POST /indexers/a/pause");
  await app.service.reset("a");
  const paused = await app.call(`GET ${path}`);
  assert.deepEqual([paused.status, paused.body.error.message], [409, "the indexer is paused"]);
});
