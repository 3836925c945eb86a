// The service as a real server, with real indexer servers beside it.
import type { TestContext } from "node:test";
import { type Answer, call } from "@sluice/server/testing/start";
import { parseSettings, type Settings } from "../settings/settings.ts";
import { type RunningTorznab, type TorznabOptions, torznab } from "../torznab.ts";
import { type Folder, openFolder } from "./folder.ts";
import { IndexerServer, type IndexerServerOptions } from "./indexer-server.ts";

export interface Started extends RunningTorznab {
  call(line: string, body?: unknown): Promise<Answer>;
  add(server: IndexerServer, id: string, more?: object): Promise<Answer>;
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

export function ask(
  address: string,
  line: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(address, line, { body, headers, redirect: "manual" });
}
