// A result of 10,000 releases over 10 indexers that page, read page by page over HTTP: all of them
// arrive, and none twice.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parseSettings, torznab } from "@sluice/torznab";
import type { Group } from "../figure.ts";
import { Scratch } from "../scratch.ts";

const INDEXERS = 10;
const EACH = 1_000;
const PAGE = 100;

const CAPS = `<caps><limits default="${PAGE}" max="${PAGE}"/><searching><search available="yes"
  supportedParams="q"/></searching><categories/></caps>`;

// Releases `from` to `to` of one indexer, the newest first.
function feed(name: string, from: number, to: number): string {
  const items = Array.from({ length: Math.max(0, to - from) }, (_, i) => {
    const at = new Date(Date.UTC(2026, 0, 1) - (from + i) * 60_000).toUTCString();
    const guid = `${name}-${from + i}`;
    return `<item><title>${guid}</title><guid>${guid}</guid><link>http://127.0.0.1/${guid}</link>
<pubDate>${at}</pubDate><size>1</size></item>`;
  });
  return `<rss xmlns:torznab="http://torznab.com/schemas/2015/feed"><channel>
<torznab:response offset="${from}" total="${EACH}"/>${items.join("")}</channel></rss>`;
}

async function startIndexers(): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://127.0.0.1");
    const offset = Number(searchParams.get("offset") ?? 0);
    const end = Math.min(EACH, offset + Number(searchParams.get("limit") ?? PAGE));
    const name = pathname.split("/")[1]!;
    response.end(searchParams.get("t") === "caps" ? CAPS : feed(name, offset, end));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function read(dir: string): Promise<{ found: number; unique: number; cpuMs: number }> {
  const { server, origin } = await startIndexers();
  const indexers = Array.from({ length: INDEXERS }, (_, i) => {
    return { id: `i${i}`, url: `${origin}/i${i}/api`, interval: 0 };
  });
  const settings = parseSettings({ listen: "127.0.0.1:0", dir, indexers }, {});
  const app = await torznab({ settings, log: "silent" });
  const guids: string[] = [];
  const before = process.cpuUsage();
  try {
    for (let offset = 0; ; offset += PAGE) {
      const address = `${app.address}/api?t=search&q=a&limit=${PAGE}&offset=${offset}`;
      const body = await (await fetch(address)).text();
      const page = [...body.matchAll(/<guid[^>]*>([^<]+)</g)].map(([, guid]) => guid!);
      if (page.length === 0) break;
      guids.push(...page);
    }
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1_000;
    return { found: guids.length, unique: new Set(guids).size, cpuMs };
  } finally {
    await app.close();
    server.closeAllConnections();
    server.close();
  }
}

export const pagingGroups: Group[] = [
  {
    name: "paging",
    async run(_scale, report) {
      using scratch = new Scratch();
      const { found, unique, cpuMs } = await read(scratch.fresh());
      const conditions = { indexers: INDEXERS, releasesOfEach: EACH, page: PAGE };
      const all = INDEXERS * EACH;
      const unit = "releases";
      const target = { atLeast: all };
      report({ metric: "paging: different releases", value: unique, unit, conditions, target });
      const twice = found - unique;
      const none = { atMost: 0 };
      report({ metric: "paging: releases twice", value: twice, unit, conditions, target: none });
      report({ metric: "paging: processor time", value: cpuMs, unit: "ms", conditions });
    },
  },
];
