/** What the service is made of, opened in the order in which one needs the other. */
import { mkdir } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { type Clock, Sluice, SystemClock } from "sluice";
import { TorznabClient } from "../client/torznab-client.ts";
import type { Settings } from "../settings/settings.ts";
import { XmlReaders } from "../xml/readers.ts";
import { IndexerCalls } from "./indexer-calls.ts";
import { Indexers } from "./indexers.ts";
import { Metrics } from "./metrics.ts";
import { RecentDownloads } from "./recent-downloads.ts";
import { SearchHistory } from "./search-history.ts";
import { SecretCipher } from "./secret-cipher.ts";
import { SharedLimits } from "./shared-limits.ts";

export interface ServiceOptions {
  readonly settings: Settings;
  readonly clock?: Clock | undefined;
  /** Instead of the system's resolver, for links found in answers. */
  readonly lookup?: LookupFunction | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Parts {
  readonly sluice: Sluice;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly cipher: SecretCipher;
  readonly hosts: SharedLimits;
  readonly indexers: Indexers;
  readonly history: SearchHistory;
  readonly metrics: Metrics;
  readonly reader: XmlReaders;
  readonly client: TorznabClient;
  readonly calls: IndexerCalls;
  readonly recent: RecentDownloads;
}

export async function openParts(options: ServiceOptions): Promise<Parts> {
  const { settings, clock = new SystemClock(), lookup } = options;
  await mkdir(settings.dir, { recursive: true, mode: 0o700 });
  const cipher = await SecretCipher.open(settings.keyFile ?? join(settings.dir, "torznab.key"));
  const sluice = await Sluice.open({ dir: join(settings.dir, "queue"), clock: options.clock });
  const hosts = await SharedLimits.open(sluice);
  await hosts.settle(settings.hosts);
  const indexers = await Indexers.open(sluice, cipher, hosts);
  await indexers.settle(settings.indexers);
  const history = await SearchHistory.open(sluice, settings.history);
  const metrics = new Metrics();
  const reader = new XmlReaders();
  const client = new TorznabClient({
    reader,
    timeoutMs: settings.requestTimeoutMs,
    bytesMax: settings.responseBytesMax,
    now: () => clock.now(),
    lookup,
  });
  const calls = new IndexerCalls({ clock, client, indexers, cipher, history, metrics });
  const made = { cipher, hosts, indexers, history, metrics, reader, client, calls };
  const recent = new RecentDownloads();
  return { sluice, clock, settings, recent, ...made };
}
