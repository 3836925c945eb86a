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

const RESULTS = `<?xml version="1.0"?><rss version="2.0"><channel><title>fake</title></channel></rss>`;

// An indexer that answers, and one that asks for time.
function startIndexer(): Promise<HttpServer> {
  return listen((request, response) => {
    if (request.url?.startsWith("/limited") && !request.url.includes("t=caps")) {
      response.writeHead(429, { "retry-after": "600" }).end();
    } else {
      response.writeHead(200, { "content-type": "application/xml" });
      response.end(request.url?.includes("t=caps") ? CAPS : RESULTS);
    }
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

export async function torznabScene(): Promise<AppScene> {
  const indexer = await startIndexer();
  const server = await DashboardServer.startApp("torznab", {});
  const interval = 0;
  for (const name of ["alpha", "limited", "resting"]) {
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
