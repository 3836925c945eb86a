// Fakes of Prowlarr, Jackett, Sonarr and Radarr: the few calls of their public API documents that
// we use, and no more. None of their code is here.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { TestContext } from "node:test";

export const PROGRAM_KEY = "0123456789abcdef0123456789abcdef";

export interface FakeProgram {
  readonly url: string;
  readonly seen: string[];
}

type Serve = (request: IncomingMessage, url: URL) => Promise<[status: number, body: unknown]>;

async function program(t: TestContext, serve: Serve): Promise<FakeProgram> {
  const seen: string[] = [];
  const server = createServer(async (request, response: ServerResponse) => {
    const url = new URL(request.url!, "http://127.0.0.1");
    seen.push(`${request.method} ${url.pathname}`);
    const [status, body] = await serve(request, url);
    const isText = typeof body === "string";
    response.writeHead(status, { "content-type": isText ? "application/xml" : "application/json" });
    response.end(isText ? body : JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const CAPS = `<caps><limits default="50" max="100"/><searching><search available="yes"
  supportedParams="q"/></searching><categories><category id="5000" name="TV"/></categories></caps>`;

export interface FakeProwlarr extends FakeProgram {
  indexers: { id: number; name: string; enable: boolean; protocol: "torrent" | "usenet" }[];
  key: string;
}

// GET /api/v1/indexer with X-Api-Key; each indexer's own Torznab at /{id}/api.
export async function fakeProwlarr(
  t: TestContext,
  indexers: FakeProwlarr["indexers"],
): Promise<FakeProwlarr> {
  const made = await program(t, async ({ headers }, { pathname, searchParams }) => {
    if (!pathname.endsWith("/api/v1/indexer")) {
      if (searchParams.get("apikey") !== fake.key) return [401, "Unauthorized"];
      return searchParams.get("t") === "caps" ? [200, CAPS] : [200, "<rss><channel/></rss>"];
    }
    if (headers["x-api-key"] !== fake.key) return [401, { error: "Unauthorized" }];
    return [200, fake.indexers];
  });
  const fake: FakeProwlarr = { ...made, indexers, key: PROGRAM_KEY };
  return fake;
}

// t=indexers of the indexer "all", as Jackett answers it.
export function fakeJackett(t: TestContext, ids: readonly string[]): Promise<FakeProgram> {
  return program(t, async (_, { pathname, searchParams }) => {
    if (searchParams.get("apikey") !== PROGRAM_KEY) {
      return [200, '<error code="100" description="Invalid API Key"/>'];
    }
    if (searchParams.get("t") === "caps") return [200, CAPS];
    const isList = pathname === "/api/v2.0/indexers/all/results/torznab/api";
    if (!isList || searchParams.get("t") !== "indexers") return [404, "<error code='201'/>"];
    const items = ids.map(
      (id) => `<indexer id="${id}" configured="true"><title>Tracker ${id}</title>${CAPS}</indexer>`,
    );
    return [200, `<?xml version="1.0"?><indexers>${items.join("")}</indexers>`];
  });
}

export interface FakeArr extends FakeProgram {
  readonly indexers: Record<string, unknown>[];
}

// /api/v3/indexer of Sonarr and Radarr: list, add, change. Like them it asks for the caps of what
// is added, refuses what does not answer, and warns unless `forceSave` is given.
export async function fakeArr(t: TestContext): Promise<FakeArr> {
  const indexers: Record<string, unknown>[] = [];
  const made = await program(t, async (request, { pathname, searchParams }) => {
    if (request.headers["x-api-key"] !== PROGRAM_KEY) return [401, { error: "Unauthorized" }];
    if (request.method === "GET") return [200, indexers];
    const entry = (await json(request)) as Record<string, unknown>;
    const problem = await problemOf(entry);
    if (problem !== undefined) return [400, [{ propertyName: "BaseUrl", errorMessage: problem }]];
    if (searchParams.get("forceSave") !== "true") {
      return [400, [{ isWarning: true, errorMessage: "No results in the categories" }]];
    }
    if (request.method === "POST") {
      indexers.push({ ...entry, id: indexers.length + 1 });
      return [201, indexers.at(-1)];
    }
    const at = indexers.findIndex(({ id }) => pathname.endsWith(`/${id}`));
    indexers[at] = entry;
    return [202, entry];
  });
  return { ...made, indexers };
}

async function problemOf(entry: Record<string, unknown>): Promise<string | undefined> {
  const fields = new Map(
    (entry.fields as { name: string; value: unknown }[]).map(({ name, value }) => [name, value]),
  );
  const address = `${fields.get("baseUrl")}${fields.get("apiPath")}`;
  const key = String(fields.get("apiKey"));
  const text = await fetch(`${address.replace(/(?<!:)\/\//, "/")}?t=caps&apikey=${key}`).then(
    (answer) => answer.text(),
    () => "",
  );
  return text.includes("<caps>") ? undefined : "Unable to connect to indexer";
}
