// Two programs that are not ours read what our endpoint answers: xmllint and python3-feedparser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type IndexerServer,
  openIndexer,
  type Started,
  sampleItems,
  start,
} from "@sluice/torznab/testing";
import { needProgram, needPythonModule, PYTHON } from "../debian.ts";

const SCHEMAS = join(import.meta.dirname, "../../../apps/torznab/schema");
const XMLLINT = "xmllint";

const READ = `
import sys, json, feedparser
feed = feedparser.parse(sys.stdin.buffer.read())
print(json.dumps({"bozo": bool(feed.bozo), "title": feed.feed.title, "items": [{
  "title": e.title, "id": e.id, "year": e.published_parsed.tm_year,
  "enclosures": [[x.href, x.type, x.length] for x in e.enclosures],
  "attr": e.get("torznab_attr")} for e in feed.entries]}))
`;

async function furnished(t: TestContext): Promise<{ app: Started; servers: IndexerServer[] }> {
  const app = await start(t);
  const servers: IndexerServer[] = [];
  for (const dialect of ["jackett", "prowlarr", "newznab"] as const) {
    const odd = '&lt;b&gt; ünï "quote" ]]&gt; &amp;';
    const items = sampleItems(dialect, 3).map((item) => ({
      ...item,
      title: `${item.title} ${odd}`,
    }));
    const server = await openIndexer(t, { dialect, apiKey: "the-key", items });
    await app.add(server, dialect);
    servers.push(server);
  }
  return { app, servers };
}

function xmllint(schema: string, document: string): void {
  const args = ["--noout", "--relaxng", join(SCHEMAS, schema), "-"];
  const { status, stderr } = spawnSync(XMLLINT, args, { input: document });
  assert.equal(status, 0, `${stderr}\n${document}`);
}

test("xmllint finds feeds, caps and errors well-formed and as the schema says", async (t) => {
  needProgram(XMLLINT, "libxml2-utils");
  const { app } = await furnished(t);
  for (const path of [
    "/api?t=search&q=release",
    "/api/newznab?t=search",
    "/api?t=search&q=none",
    "/api?t=tvsearch&q=release&season=1&ep=2",
    "/api?t=movie&imdbid=tt0133093",
    "/api?t=search&q=release&limit=2&offset=2",
  ]) {
    const { status, body } = await app.call(`GET ${path}`);
    assert.equal(status, 200, body);
    xmllint("feed.rng", body);
  }
  for (const path of ["/api?t=caps", "/api/newznab?t=caps", "/api?t=x%22%3C%26", "/api/n?t=caps"]) {
    xmllint("caps.rng", (await app.call(`GET ${path}`)).body);
  }
  const wrong = spawnSync(XMLLINT, ["--noout", "--relaxng", join(SCHEMAS, "caps.rng"), "-"], {
    input: "<caps/>",
  });
  assert.notEqual(wrong.status, 0, "a schema that refuses nothing checks nothing");
});

test("feedparser reads items, enclosures, dates and attributes", async (t) => {
  needPythonModule("feedparser", "python3-feedparser");
  const { app } = await furnished(t);
  const { body } = await app.call("GET /api?t=search&q=release");
  const { status, stdout, stderr } = spawnSync(PYTHON, ["-c", READ], { input: body });
  assert.equal(status, 0, String(stderr));
  const feed = JSON.parse(String(stdout));
  assert.equal(feed.bozo, false);
  assert.equal(feed.title, "Sluice Torznab");
  assert.equal(feed.items.length, 9);
  for (const item of feed.items) {
    assert.match(item.title, /^(jackett|prowlarr|newznab) .*Release/);
    assert.ok(item.id.length > 0);
    assert.ok(item.year >= 2024);
    assert.equal(item.enclosures.length, 1);
    const [href, type, length] = item.enclosures[0];
    assert.ok(href.startsWith(`${app.address}/download/`));
    assert.equal(type, "application/x-bittorrent");
    assert.match(length, /^100000\d$/);
    assert.ok(item.attr.name !== undefined && item.attr.value !== undefined);
  }
});
