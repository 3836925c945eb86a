// rss-parser from npm, a reader that we did not write, takes our feeds page by page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openIndexer, sampleItems, start } from "@sluice/torznab/testing";
import Parser from "rss-parser";

interface Item {
  attributes?: { $: { name: string; value: string } }[];
  size?: string;
}

interface Feed {
  "torznab:response"?: { $: { offset: string; total: string } };
}

const parser = new Parser<Feed, Item>({
  customFields: {
    feed: ["torznab:response"],
    item: ["size", ["torznab:attr", "attributes", { keepArray: true }]],
  },
});

const attribute = (item: Item, name: string) =>
  item.attributes?.find(({ $ }) => $.name === name)?.$.value;

test("rss-parser reads searches, tv, movies and pages, and the links download", async (t) => {
  const app = await start(t);
  for (const id of ["a", "b"]) {
    const items = sampleItems(id, 70);
    await app.add(await openIndexer(t, { items, isPaging: true, total: 70 }), id);
  }
  const read = (query: string) => parser.parseURL(`${app.address}/api?${query}`);
  const titles = new Set<string>();
  for (const offset of [0, 50, 100]) {
    const { items, ...feed } = await read(`t=search&q=release&limit=50&offset=${offset}`);
    assert.deepEqual({ ...feed["torznab:response"]?.$ }, { offset: String(offset), total: "140" });
    for (const { title } of items) titles.add(title ?? "");
  }
  assert.equal(titles.size, 140, "each release once");
  for (const query of ["t=tvsearch&q=a%20release%2069", "t=movie&q=a%20release%2069&cat=2000"]) {
    const { items, title } = await read(query);
    assert.equal(title, "Sluice Torznab");
    assert.deepEqual(
      items.map((item) => item.title),
      ["a Release 69 & more"],
    );
    const [item] = items;
    assert.deepEqual([item!.isoDate, item!.size], ["2024-03-05T10:11:12.000Z", "1000069"]);
    assert.deepEqual([attribute(item!, "seeders"), attribute(item!, "leechers")], ["69", "3"]);
    const { url = "", type } = item!.enclosure ?? {};
    assert.equal(type, "application/x-bittorrent");
    assert.equal(await (await fetch(url)).text(), "d4:infoe");
  }
  await assert.rejects(read("t=search&limit=x"), /Status code 400/);
});
