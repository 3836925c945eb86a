// The service as a real server, with real indexer servers beside it.
import type { TestContext } from "node:test";
import { parseSettings, type Settings } from "../settings/settings.ts";
import { type RunningTorznab, type TorznabOptions, torznab } from "../torznab.ts";
import { type Folder, openFolder } from "./folder.ts";
import { IndexerServer, type IndexerServerOptions } from "./indexer-server.ts";

export interface Called {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for
  readonly body: any;
  readonly headers: Headers;
}

export interface Started extends RunningTorznab {
  call(line: string, body?: unknown): Promise<Called>;
  add(server: IndexerServer, id: string, more?: object): Promise<Called>;
}

export interface StartOptions extends Omit<TorznabOptions, "settings"> {
  settings?: Partial<Settings>;
  folder?: Folder;
}

export async function start(t: TestContext, options: StartOptions = {}): Promise<Started> {
  const { settings, folder = await openFolder(t), ...rest } = options;
  const defaults = parseSettings({ listen: "127.0.0.1:0", dir: folder.dir }, {});
  const running = await torznab({ log: "silent", ...rest, settings: { ...defaults, ...settings } });
  folder.closing.unshift(() => running.close());
  const call: Started["call"] = (line, body) => ask(running.address, line, body);
  return {
    ...running,
    call,
    add(server, id, more = {}) {
      const name = `Indexer ${id}`;
      const own = { id, name, url: server.url, apiKey: server.apiKey, interval: 0 };
      return call("POST /indexers?test=false", { ...own, ...more });
    },
  };
}

export async function openIndexer(
  t: TestContext,
  options: IndexerServerOptions = {},
): Promise<IndexerServer> {
  const server = await IndexerServer.open(options);
  t.after(() => server.close());
  return server;
}

export async function ask(
  address: string,
  line: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Called> {
  const [method = "GET", path = "/"] = line.split(" ");
  const json = { "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(address + path, {
    method,
    redirect: "manual",
    headers: { ...(body === undefined ? {} : json), ...headers },
    ...sent,
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const { status } = response;
  return { status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}
