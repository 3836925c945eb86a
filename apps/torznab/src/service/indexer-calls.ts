/** Asks one indexer one thing, notes what came of it, and does what the answer calls for. */
import type { Clock } from "sluice";
import { isInCategories, mapped, unmapped } from "../client/categories.ts";
import { pruneQuery, type SearchQuery } from "../client/query.ts";
import type { Downloaded, TorznabClient } from "../client/torznab-client.ts";
import { TorznabFault } from "../client/torznab-fault.ts";
import { redact } from "../redact.ts";
import { Fault } from "../scheduler/fault.ts";
import type { Status } from "../scheduler/outcome.ts";
import type { Caps } from "../xml/read-caps.ts";
import type { Feed } from "../xml/read-feed.ts";
import { foundOf } from "./found.ts";
import type { IndexerRecord, Indexers } from "./indexers.ts";
import type { Metrics } from "./metrics.ts";
import { type FoundPage, moreOf, pageSizeOf } from "./pages.ts";
import type { HistoryRow, SearchHistory } from "./search-history.ts";
import type { SecretCipher } from "./secret-cipher.ts";

export interface AskParts {
  readonly clock: Clock;
  readonly client: TorznabClient;
  readonly indexers: Indexers;
  readonly cipher: SecretCipher;
  readonly history: SearchHistory;
  readonly metrics: Metrics;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

interface Noted<T> {
  readonly value: T;
  readonly count: number;
}

export class IndexerCalls {
  /** What indexers say of their own limits, by id: shown, and never made into a limit of ours. */
  readonly reported = new Map<string, NonNullable<Feed["apiLimits"]>>();
  readonly #parts: AskParts;

  constructor(parts: AskParts) {
    this.#parts = parts;
  }

  async caps(id: string, options: AskOptions): Promise<Caps> {
    const { client, indexers, clock } = this.#parts;
    const record = this.#open(id);
    return this.#noted(record, "caps", "caps", options, async () => {
      const caps = await client.caps(indexers.endpoint(record), options);
      await indexers.learnCaps(id, caps, clock.now());
      return { value: caps, count: 0 };
    });
  }

  async search(id: string, query: SearchQuery, options: AskOptions): Promise<FoundPage> {
    const { client, indexers, cipher } = this.#parts;
    const record = this.#open(id);
    if (record.caps === undefined) {
      // Asking blindly would spend a request on an answer that may be to something else.
      throw new Fault("what the indexer can do is not known yet: its caps did not come");
    }
    const limit = pageSizeOf(record.caps);
    const params = pruneQuery({ ...query, ...ownCategories(record, query), limit }, record.caps);
    const endpoint = indexers.endpoint(record);
    return this.#noted(record, "search", describe(query), options, async () => {
      const feed = await client.search(endpoint, params, options);
      const { releases, apiLimits } = feed;
      if (apiLimits !== undefined) this.reported.set(id, apiLimits);
      const secrets = [endpoint.apiKey, ...(endpoint.oldKeys ?? [])];
      const from = { id, name: record.name };
      // Before merging: a release that another indexer lists elsewhere must not take its place.
      const kept = releases
        .map((release) => ({
          ...release,
          categories: mapped(release.categories, record.categories),
        }))
        .filter(({ categories }) => isInCategories(categories, query.cat))
        .map((release) => foundOf(release, from, { cipher, secrets }));
      const more = moreOf(feed, { offset: query.offset ?? 0, limit });
      return { value: { releases: kept, more }, count: kept.length };
    });
  }

  async download(id: string, link: string, options: AskOptions): Promise<Downloaded> {
    const { client, indexers } = this.#parts;
    const record = this.#open(id);
    return this.#noted(record, "download", "download", options, async () => {
      const value = await client.download(indexers.endpoint(record), link, options);
      return { value, count: 1 };
    });
  }

  /** The same by the id of a release, as Newznab indexers know it. */
  async get(id: string, release: string, options: AskOptions): Promise<Downloaded> {
    const { client, indexers } = this.#parts;
    const record = this.#open(id);
    return this.#noted(record, "download", "download", options, async () => {
      const value = await client.get(indexers.endpoint(record), release, options);
      return { value, count: 1 };
    });
  }

  #open(id: string): IndexerRecord {
    const { indexers } = this.#parts;
    const record = indexers.find(id);
    if (record === undefined) throw new Fault("the indexer was removed", { status: "skipped" });
    const why = indexers.whyNot(record);
    if (why !== undefined) throw new Fault(why, { status: "skipped" });
    return record;
  }

  async #noted<T>(
    { id }: IndexerRecord,
    kind: HistoryRow["kind"],
    what: string,
    { signal }: AskOptions,
    run: () => Promise<Noted<T>>,
  ): Promise<T> {
    const { clock } = this.#parts;
    const start = { at: clock.now(), indexer: id, kind, what: redact(what) };
    const note = (row: Pick<HistoryRow, "status" | "count" | "error">): Promise<void> =>
      this.#note({ ...start, endedAt: clock.now(), ...row });
    try {
      const { value, count } = await run();
      await note({ status: kind === "search" && count === 0 ? "empty" : "ok", count });
      return value;
    } catch (error) {
      await this.#react(id, error);
      const status: Status = error instanceof Fault ? error.status : "error";
      const message = error instanceof Fault ? error.message : "an error of this program";
      const end = signal.aborted ? { status: "cancelled" as const } : { status, error: message };
      await note({ ...end, count: 0 });
      throw error;
    }
  }

  async #note(row: HistoryRow): Promise<void> {
    this.#parts.metrics.asked(row);
    await this.#parts.history.add(row);
  }

  async #react(id: string, error: unknown): Promise<void> {
    if (!(error instanceof TorznabFault)) return;
    if (error.reaction === "disable") await this.#parts.indexers.refuse(id, error.message);
    if (error.reaction === "refetch-caps") await this.#parts.indexers.forgetCaps(id);
  }
}

/** The wanted categories in the indexer's own numbers, where the user maps them. */
function ownCategories({ categories, caps }: IndexerRecord, { cat }: SearchQuery) {
  if (cat === undefined || categories === undefined) return {};
  const listed = (caps?.categories ?? []).flatMap(({ id, subs }) => [id, ...subs.map((s) => s.id)]);
  return { cat: unmapped(cat, categories, new Set(listed)) };
}

/** A search in one line. */
function describe({ mode, q, cat, offset = 0, fields = {} }: SearchQuery): string {
  const parts = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  if (offset > 0) parts.push(`offset=${offset}`);
  if (cat !== undefined) parts.push(`cat=${cat.join(",")}`);
  return [mode, ...(q === undefined ? [] : [JSON.stringify(q)]), ...parts].join(" ");
}
