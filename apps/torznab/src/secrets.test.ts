import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openFolder } from "./testing/folder.ts";
import { FAULTS, type FaultName, sampleItems } from "./testing/indexer-server.ts";
import { openIndexer, start } from "./testing/start.ts";

const KEY = "indexer-secret-5f2a9c";
const JSON_TYPE = { "content-type": "application/json" };
const OWN = "the-services-own-secret-key-91c4e7d2";

test("no key is in any log, error, metric, history row, page, answer or stored byte", async (t) => {
  const folder = await openFolder(t);
  const lines: string[] = [];
  const log = { level: "trace" as const, to: { write: (line: string) => void lines.push(line) } };
  const settings = { apiKey: OWN, cacheTtlMs: 0, requestTimeoutMs: 200, responseBytesMax: 1 << 20 };
  const app = await start(t, { folder, settings, log });
  const texts: string[] = [];
  const call = async (line: string, body?: unknown): Promise<string> => {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(app.address + path, {
      method,
      headers: { "x-api-key": OWN, ...(body === undefined ? {} : JSON_TYPE) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    texts.push(`${line} ${[...response.headers]} ${text}`);
    return text;
  };
  for (const dialect of ["jackett", "prowlarr", "newznab"] as const) {
    const server = await openIndexer(t, { dialect, apiKey: KEY, items: sampleItems(dialect, 2) });
    const url = `${server.url}?apikey=${KEY}`;
    await call("POST /indexers?test=false", { id: dialect, url, interval: 0 });
    await call(`POST /indexers/${dialect}/test`);
    const faults = dialect === "jackett" ? Object.keys(FAULTS) : ["badKey", "prowlarr429"];
    for (const fault of faults as FaultName[]) {
      server.fault = fault;
      await call(`GET /api/${dialect}?t=search&q=release&apikey=${OWN}`);
      await call(`POST /indexers/${dialect}/reset`);
    }
    server.fault = undefined;
    await call(`POST /indexers/${dialect}/test`);
    const feed: string = await call(`GET /api/${dialect}?t=search&q=release&apikey=${OWN}`);
    const link = /<link>([^<]*\/download\/[^<]*)</.exec(feed)![1]!.replaceAll("&amp;", "&");
    await call(`GET ${link.slice(app.address.length)}`);
  }
  const { id } = JSON.parse(await call("POST /search", { q: "release" }));
  await call(`GET /search/${id}/events`);
  await call("POST /search", { q: "release", apikey: KEY, nonsense: OWN });
  for (const path of [`search/${id}`, "indexers", "activity", "history?limit=1000", "metrics"]) {
    await call(`GET /${path}`);
  }
  await call("GET /v1/apps/torznab");
  await call("POST /indexers", { url: `ftp://x/?apikey=${KEY}` });
  await app.close();
  folder.closing.shift();

  assert.ok(lines.length > 50 && texts.length > 90);
  const leaks = [...lines, ...texts].filter((text) => withoutRequest(text).includes(KEY));
  assert.deepEqual(leaks, []);
  assert.deepEqual(
    [...lines, ...texts].filter((text) => withoutRequest(text).includes(OWN)),
    [],
  );
  let bytes = 0;
  for (const file of await filesIn(folder.dir)) {
    const content = await readFile(file);
    bytes += content.length;
    for (const secret of [KEY, OWN, encodeURIComponent(KEY), Buffer.from(KEY).toString("base64")]) {
      assert.equal(content.indexOf(secret), -1, `${secret} in ${file}`);
    }
  }
  assert.ok(bytes > 10_000, "nothing was stored");
  assert.equal((await stat(join(folder.dir, "torznab.key"))).mode & 0o777, 0o600);
});

// What the test itself asked for is no leak: only the answer counts.
function withoutRequest(text: string): string {
  return text.replace(/^(GET|POST) \S+ /, "");
}

async function filesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
