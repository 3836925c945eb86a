// The apps on servers of their own, each with something to show.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DashboardServer, freePort } from "./server.ts";

export interface AppScene extends AsyncDisposable {
  readonly server: DashboardServer;
}

export async function jobserverScene(): Promise<AppScene> {
  const server = await DashboardServer.startApp("jobserver", {});
  for (const worker_id of ["acme", "acme", "globex", "initech"]) {
    await server.call("POST /job/add", { type: "echo", worker_id, arguments: { hello: "world" } });
  }
  return { server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const CAPS = `<?xml version="1.0"?><caps><server title="fake"/><limits max="100" default="50"/>
<searching><search available="yes" supportedParams="q"/></searching>
<categories><category id="5000" name="TV"/></categories></caps>`;

const FILES = [
  ["netinst", 700],
  ["DVD-1", 3_900],
  ["xfce", 2_400],
] as const;

function resultsOf(indexer: string, words: string): string {
  const items = FILES.map(
    ([name, megabytes]) => `<item><title>${indexer} ${words} ${name}.iso</title>
<guid>${indexer}-${words}-${name}</guid><size>${megabytes * 1_000_000}</size>
<link>http://HOST/${indexer}/file/${name}.torrent</link>
<pubDate>Sat, 06 Sep 2025 10:00:00 +0000</pubDate></item>`,
  );
  return `<?xml version="1.0"?><rss version="2.0"><channel>${items.join("")}</channel></rss>`;
}

// Indexers by path: one asks for time, one answers a search for "slowly" when it is released.
function startIndexer(released: Promise<void>): Promise<HttpServer> {
  return listen(async ({ url = "", headers }, response) => {
    const [, indexer = ""] = url.split("/");
    const params = new URL(url, "http://x").searchParams;
    const t = params.get("t");
    const words = params.get("q") ?? "";
    if (t === null) return void response.end("d4:infode");
    if (indexer === "limited" && t !== "caps") {
      return void response.writeHead(429, { "retry-after": "600" }).end();
    }
    if (indexer === "slow" && words === "slowly") await released;
    response.writeHead(200, { "content-type": "application/xml" });
    const results = resultsOf(indexer, words).replaceAll("HOST", headers.host ?? "");
    response.end(t === "caps" ? CAPS : results);
  });
}

function listen(answer: RequestListener): Promise<HttpServer> {
  const server = createServer(answer);
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

const portOf = (server: HttpServer): number => (server.address() as AddressInfo).port;

function stop(server: HttpServer): void {
  server.closeAllConnections();
  server.close();
}

export async function torznabScene(): Promise<AppScene & { release(): void }> {
  const held = Promise.withResolvers<void>();
  const indexer = await startIndexer(held.promise);
  const server = await DashboardServer.startApp("torznab", {});
  const interval = 0;
  for (const name of ["alpha", "limited", "resting", "slow"]) {
    const url = `http://127.0.0.1:${portOf(indexer)}/${name}/api`;
    const windows = [{ limit: 100, per: "day" }];
    await server.call("POST /indexers", { url, apiKey: "secret", name, interval, windows });
  }
  await server.call("GET /api?t=search&q=debian");
  const { indexers = [] } = (await server.call("GET /indexers")).body;
  const resting = indexers.find((one: { name: string }) => one.name === "resting");
  if (resting !== undefined) await server.call(`POST /indexers/${resting.id}/pause`);
  return {
    server,
    release: () => held.resolve(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      stop(indexer);
    },
  };
}

// A tracker that answers, and one that is not there.
const forwardersOf = (port: number): string => `- uri: http://127.0.0.1:${port}/announce
  name: one
- uri: udp://127.0.0.1:9/announce
  name: two
`;

const ANNOUNCED = "d8:completei3e10:incompletei5e8:intervali1800e5:peers0:e";

export async function retrackerScene(): Promise<AppScene> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-forwarders-"));
  const forwarders = join(folder, "list.yml");
  const tracker = await listen((_, response) => void response.end(ANNOUNCED));
  writeFileSync(forwarders, forwardersOf(portOf(tracker)));
  const port = await freePort();
  const server = await DashboardServer.startApp("retracker", {
    RETRACKER_LISTEN: `127.0.0.1:${port}`,
    RETRACKER_UDP_LISTEN: "",
    RETRACKER_FORWARDERS: forwarders,
  });
  for (let peer = 1; peer <= 3; peer++) {
    const query = `info_hash=${"a".repeat(20)}&peer_id=-XX0001-00000000000${peer}&port=${6880 + peer}`;
    await fetch(`http://127.0.0.1:${port}/announce?${query}&uploaded=0&downloaded=0&left=1`);
  }
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
      stop(tracker);
    },
  };
}
