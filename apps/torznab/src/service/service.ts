/**
 * The search service: indexers, searches over them, and what it remembers. It decides who is asked;
 * when they are asked the scheduler decides.
 *
 * A search goes to every indexer that may be asked, has no fresh answer in the cache and can do
 * this kind of search. A request for the same while it runs joins it. Where an indexer's caps are
 * unknown, they are asked for first, as a request like any other.
 */
import { SluiceError } from "sluice";
import { isFeed, pruneQuery, type SearchQuery } from "../client/query.ts";
import type { Downloaded } from "../client/torznab-client.ts";
import { PAGE_ITEMS_USUAL, SEARCHES_RUNNING_MAX } from "../limits.ts";
import { Fault } from "../scheduler/fault.ts";
import { gateKey, gateOptions } from "../scheduler/limits-of.ts";
import { normalise, taskKey } from "../scheduler/normalise.ts";
import { type More, type Outcome, without } from "../scheduler/outcome.ts";
import { maxWaitOf, PRIORITIES, type Priority } from "../scheduler/priority.ts";
import { SearchScheduler } from "../scheduler/scheduler.ts";
import type { Answer, Completion, Indexer, SubmitOptions } from "../scheduler/submission.ts";
import type { IndexerInput } from "../settings/indexer-input.ts";
import type { Caps } from "../xml/read-caps.ts";
import { ResultCache } from "./cache.ts";
import { CapsRequests } from "./caps-requests.ts";
import type { Found } from "./found.ts";
import type { AskOptions } from "./indexer-calls.ts";
import type { IndexerRecord } from "./indexers.ts";
import { KeptSearches } from "./kept-searches.ts";
import { lateTurn } from "./late-turn.ts";
import { limitsNow, nextAt } from "./limits-now.ts";
import { type FoundPage, restOf, wantedOf } from "./pages.ts";
import { openParts, type Parts, type ServiceOptions } from "./parts.ts";
import { RETRY_MS, Search } from "./search.ts";
import { Sources } from "./sources.ts";
import { StoredSearches } from "./stored-searches.ts";

export interface SearchRequest {
  readonly query: SearchQuery;
  /** Absent: all. */
  readonly indexers?: readonly string[] | undefined;
  readonly priority?: Priority | undefined;
  readonly maxWaitMs?: number | undefined;
  readonly deadlineMs?: number | undefined;
  readonly durable?: boolean | undefined;
}

/** A file and the indexer that it came from. */
interface Grabbed {
  readonly indexer: string;
  readonly file: Downloaded;
}

/** What is asked of an indexer: a search, or one of the other two things. */
type Ask = SearchQuery | { readonly mode: "caps" | "download" };
type Scheduler = SearchScheduler<Ask, unknown>;
type Submit = SubmitOptions<Ask, unknown>;

export class TorznabService {
  readonly parts: Parts;
  readonly cache: ResultCache;
  readonly #store: StoredSearches;
  readonly #searches = new KeptSearches();
  readonly #running = new Set<Search>();
  /** Those that others may join, by what was asked. */
  readonly #inFlight = new Map<string, Search>();
  readonly #caps: CapsRequests;
  readonly #opened = Promise.withResolvers<void>();
  #scheduler!: Scheduler;
  #sources!: Sources;

  private constructor(parts: Parts) {
    this.parts = parts;
    this.cache = new ResultCache(parts.settings.cacheTtlMs);
    this.#store = new StoredSearches(parts.sluice);
    this.#caps = new CapsRequests(parts, (options) => this.#scheduler.submit(options as Submit));
  }

  static async open(options: ServiceOptions): Promise<TorznabService> {
    const service = new TorznabService(await openParts(options));
    try {
      await service.#start(options);
    } catch (error) {
      await service.parts.sluice.close({ timeout: 0 });
      throw error;
    }
    return service;
  }

  /** Answers at once; the search says when it is done. A caller that keeps it must `release` it. */
  search(request: SearchRequest): Search {
    const { clock, settings } = this.parts;
    const { query: asked, durable = false } = request;
    const { limit, offset, ...query } = asked;
    const isPage = limit !== undefined || offset !== undefined;
    const page = isPage ? { offset: offset ?? 0, limit: limit ?? PAGE_ITEMS_USUAL } : undefined;
    const records = this.#chosen(request.indexers);
    const priority = request.priority ?? priorityOf(query);
    const now = clock.now();
    const deadline = now + (request.deadlineMs ?? settings[`${priority}DeadlineMs`]);
    const indexers = records.map(({ id, name }) => ({ id, name }));
    const { maxWaitMs, deadlineMs } = request;
    const key = normalise({ query, page, priority, indexers, maxWaitMs, deadlineMs });
    const joined = this.#inFlight.get(key);
    // A caller that asked for a durable search must not join one that is not.
    if (joined !== undefined && (joined.facts.durable || !durable)) {
      joined.watchers++;
      return joined;
    }
    if (this.#running.size >= SEARCHES_RUNNING_MAX) throw tooMany();
    const times = { createdAt: now, deadline };
    const search = new Search({ query, page, priority, ...times, indexers, durable });
    search.watchers = 1;
    const submit = this.#submitOf(search, maxWaitMs);
    const asks = records.filter((record) => !this.#settledAtOnce(search, record));
    for (const { id, caps } of asks) if (caps === undefined) this.#caps.ask(id, submit);
    search.asked = asks.map(({ id }) => id);
    search.id = this.#scheduler.submit({ ...submit, indexers: this.#limited(asks) });
    this.#keep(search);
    this.#inFlight.set(key, search);
    this.#running.add(search);
    void search.done.then(() => {
      this.#running.delete(search);
      this.#letNobodyJoin(search);
    });
    return search;
  }

  /** The same, and what it needs to continue after a crash is written when it resolves. */
  async searchDurably(request: Omit<SearchRequest, "durable">): Promise<Search> {
    const search = this.search({ ...request, durable: true });
    await Promise.all([this.#store.put(search), this.#scheduler.queued()]);
    return search;
  }

  /** The last one who waits for a search ends it by leaving; a durable one runs on. */
  release(search: Search): void {
    search.watchers--;
    const isLeft = search.watchers <= 0 && !search.facts.durable && !search.isDone;
    if (!isLeft) return;
    this.#letNobodyJoin(search);
    search.ending.abort();
    void this.#scheduler.cancel(search.id);
  }

  async cancel(id: string): Promise<void> {
    const search = this.find(id);
    this.#letNobodyJoin(search);
    search.ending.abort();
    await this.#scheduler.cancel(id);
  }

  find(id: string): Search {
    return this.#searches.get(id);
  }

  get searches(): readonly Search[] {
    return this.#searches.all;
  }

  /** Programs whose indexers are taken over. */
  get sources(): Sources {
    return this.#sources;
  }

  /** Fetches an indexer's caps now, as a user who waits for it. */
  async test(id: string): Promise<Caps> {
    const record = this.parts.indexers.get(id);
    return this.#one<Caps>(record, {
      priority: "interactive",
      exec: async (_indexer, _query, { signal }) => {
        return { results: [await this.parts.calls.caps(id, { signal })] };
      },
    });
  }

  /** The target of a sealed link of one of our feeds. */
  async download(id: string, token: string, signal?: AbortSignal): Promise<Downloaded> {
    const { calls, cipher, indexers } = this.parts;
    const record = indexers.get(id);
    const link = cipher.unseal(`link:${id}`, token);
    if (link === undefined) throw new SluiceError("NOT_FOUND", "there is no such download");
    return this.#grab(record, (call) => calls.download(id, link, call), signal);
  }

  /**
   * The release that one of these indexers calls so: the link of our latest feeds, or else what a
   * Newznab indexer has under this id. With several of them, no guess is made.
   */
  async downloadByGuid(guid: string, of: readonly IndexerRecord[]): Promise<Grabbed> {
    const { calls, recent } = this.parts;
    const found = recent.find(
      guid,
      of.map(({ id }) => id),
    );
    if (found !== undefined) {
      const { indexer, token } = found;
      return { indexer, file: await this.download(indexer, token) };
    }
    const [record, ...others] = of;
    if (record?.kind !== "newznab" || others.length > 0) {
      throw new SluiceError("NOT_FOUND", "no release of the latest feeds has this id");
    }
    const file = await this.#grab(record, (call) => calls.get(record.id, guid, call));
    return { indexer: record.id, file };
  }

  /** Within the indexer's limits on downloads. */
  #grab(
    record: IndexerRecord,
    call: (options: AskOptions) => Promise<Downloaded>,
    signal?: AbortSignal,
  ): Promise<Downloaded> {
    return this.#one<Downloaded>(record, {
      ...{ priority: "interactive", budget: "grab", signal },
      exec: async (_indexer, _query, context) => ({ results: [await call(context)] }),
    });
  }

  /** New limits hold from now on, and what was used of the old ones stays used. */
  async change(id: string, change: Partial<Omit<IndexerInput, "id">>): Promise<IndexerRecord> {
    const record = await this.parts.indexers.change(id, change);
    await this.#setGates(record);
    // What it answered was read by its former address and categories.
    if (change.url !== undefined || change.categories !== undefined) this.cache.clear();
    return record;
  }

  /** Ends its cooldowns, and lets a refused key be tried again. */
  async reset(id: string): Promise<void> {
    await this.parts.indexers.forgive(id);
    await this.parts.sluice.gate(gateKey(id)).clear();
    await this.parts.sluice.gate(gateKey(id, "grab")).clear();
  }

  async remove(id: string): Promise<void> {
    await this.parts.indexers.remove(id);
    for (const budget of ["query", "grab"] as const) {
      // One that was never asked has none.
      await this.parts.sluice
        .gate(gateKey(id, budget))
        .delete()
        .catch((error: unknown) => {
          if (!(error instanceof SluiceError && error.code === "GATE_NOT_FOUND")) throw error;
        });
    }
  }

  async close({ timeout = 5_000 }: { timeout?: number } = {}): Promise<void> {
    this.#sources.close();
    await this.#scheduler.stop({ timeout });
    for (const search of this.#searches.all) search.finish();
    await this.parts.reader.close();
    await this.parts.sluice.close({ timeout: 0 });
  }

  async #start({ settings, onError }: ServiceOptions): Promise<void> {
    const { sluice, clock, indexers } = this.parts;
    await Promise.all(indexers.all.map((record) => this.#setGates(record)));
    const resume = await this.#leftSearches();
    this.#scheduler = await SearchScheduler.open<Ask, unknown>({
      sluice,
      clock,
      workers: settings.workers,
      resume,
      onError,
      exec: ({ id }, query, { signal, jobId }) =>
        this.#ask(id, query as SearchQuery, signal, this.#searches.find(jobId)),
    });
    this.#sources = await Sources.open(this);
    this.#opened.resolve();
    for (const record of indexers.all) {
      if (record.caps !== undefined || indexers.whyNot(record) !== undefined) continue;
      this.#caps.ask(record.id, { priority: "background" });
    }
  }

  /** One page of an indexer, from the cache when another search had it while this one waited. */
  async #ask(
    id: string,
    query: SearchQuery,
    signal: AbortSignal,
    search: Search | undefined,
  ): Promise<Answer<Found>> {
    const { clock, calls } = this.parts;
    const now = clock.now();
    const key = taskKey(id, query);
    const cached = this.cache.page(key, now);
    if (cached !== undefined) return { results: cached.releases, more: cached.more };
    const { deadline = Infinity, createdAt = 0 } = search?.facts ?? {};
    const timeoutMs = Math.max(1, deadline - now);
    const { releases, more } = await calls
      .search(id, query, { signal, timeoutMs })
      .catch((error) => {
        throw lateTurn(error, now - createdAt, timeoutMs);
      });
    this.cache.put(key, releases, clock.now(), more);
    return { results: releases, more };
  }

  /** A further page of an indexer for a search: a task of its own, within the same limits. */
  async #askPage(search: Search, indexer: Indexer, offset: number): Promise<Outcome<Found>> {
    // The tasks of an earlier process may end before the scheduler is open.
    await this.#opened.promise;
    const { query, deadline } = search.facts;
    const { promise, resolve } = Promise.withResolvers<Completion<unknown>>();
    this.#scheduler.submit({
      ...this.#submitOf(search),
      indexers: [indexer],
      params: { ...query, offset },
      maxWait: Math.max(1, deadline - this.parts.clock.now()),
      durable: false,
      dedupe: false,
      signal: search.ending.signal,
      exec: ({ id }, asked, { signal }) => this.#ask(id, asked as SearchQuery, signal, search),
      onComplete: resolve,
      onJobDone: undefined,
    });
    return (await promise) as Outcome<Found>;
  }

  async #setGates(record: IndexerRecord): Promise<void> {
    const { id, ...limits } = this.parts.indexers.limited(record);
    const sets = (["query", "grab"] as const).map((budget) =>
      this.parts.sluice.gate(gateKey(id, budget)).set(gateOptions(limits, budget)),
    );
    await Promise.all(sets);
  }

  /** The durable searches of the process before. */
  async #leftSearches(): Promise<Map<string, Submit>> {
    const resume = new Map<string, Submit>();
    for (const search of await this.#store.left(this.parts.clock.now())) {
      this.#keep(search);
      // In the order of the submit: its tasks are known by their places.
      const indexers = search.asked.map((id) => {
        const record = this.parts.indexers.find(id);
        if (record === undefined) return { id, name: search.nameOf(id) };
        return this.parts.indexers.limited(record);
      });
      for (const { id } of search.facts.indexers) {
        const record = this.parts.indexers.find(id);
        if (search.asked.includes(id)) continue;
        if (record !== undefined && this.#settledAtOnce(search, record)) continue;
        search.settle(id, without("stopped", new Fault("what it had answered was not kept")));
      }
      resume.set(search.id, { ...this.#submitOf(search), indexers });
    }
    return resume;
  }

  #letNobodyJoin(search: Search): void {
    for (const [key, one] of this.#inFlight) if (one === search) this.#inFlight.delete(key);
  }

  #keep(search: Search): void {
    for (const dropped of this.#searches.keep(search)) {
      // If the store cannot be written, its calls reject for callers that wait. Here no caller
      // waits.
      this.#store.drop(dropped).catch(() => {});
    }
  }

  #submitOf(search: Search, maxWaitMs?: number): Submit {
    const { query, priority, deadline, createdAt, durable } = search.facts;
    // An indexer that cannot be asked before the deadline is reported at once.
    const maxWait = Math.min(maxWaitOf(priority, maxWaitMs) ?? Infinity, deadline - createdAt);
    return {
      indexers: [],
      params: query,
      priority,
      maxWait,
      deadline,
      durable,
      onComplete: (completion) => this.#complete(search, completion),
      onJobDone: () => this.#done(search),
    };
  }

  async #complete(search: Search, completion: Completion<unknown>): Promise<void> {
    const { indexer, status, results } = completion;
    const found = results as readonly Found[];
    if (status === "ok" || status === "empty") {
      const wanted = wantedOf(search.facts.page);
      const ask = (offset: number) => this.#askPage(search, indexer, offset);
      const whole = await restOf({ ...completion, results: found }, wanted, ask);
      search.settle(indexer.id, whole);
      return;
    }
    if (status === "deduplicated") return this.#follow(search, completion);
    const real = await this.#caps.realFailure(completion);
    const retryAfterMs =
      real.status === "rate_limited" ? await this.#opensInMs(indexer.id, search) : 0;
    search.settle(indexer.id, { ...real, results: [] }, { retryAfterMs });
  }

  /** When its limits, as they are by now, would let such a search go. */
  async #opensInMs(id: string, { facts }: Search): Promise<number> {
    const now = this.parts.clock.now();
    const record = this.parts.indexers.find(id);
    if (record === undefined) return 0;
    const gates = await limitsNow(this.parts, record);
    return nextAt(gates, PRIORITIES.indexOf(facts.priority), now) - now;
  }

  /** Another search asks the same of this indexer: its answer is ours too. */
  async #follow(search: Search, completion: Completion<unknown>): Promise<void> {
    const { id } = completion.indexer;
    const key = taskKey(id, search.facts.query);
    const other = this.searches.find(
      (one) => one !== search && one.isWaitingFor(id) && taskKey(id, one.facts.query) === key,
    );
    const heard = await other?.ended(id);
    const isAnswer = heard?.report.status === "ok" || heard?.report.status === "empty";
    if (heard === undefined || !isAnswer) search.settle(id, { ...completion, results: [] });
    else search.settle(id, { ...completion, ...resultsOf(heard.releases) }, { isCached: true });
  }

  #done(search: Search): void {
    this.parts.metrics.searched(search.facts.priority, search.failure() === undefined);
    search.finish();
  }

  /** Whether it needs no request: it may not be asked, was asked just now, or cannot do it. */
  #settledAtOnce(search: Search, record: IndexerRecord): boolean {
    const { query } = search.facts;
    const why = this.parts.indexers.whyNot(record);
    if (why !== undefined) {
      search.settle(record.id, without("skipped", new Fault(why)));
      return true;
    }
    const found = this.#cached(record.id, search);
    if (found !== undefined) {
      const outcome = { ...resultsOf(found.releases), coverage: [record.id], more: found.more };
      search.settle(record.id, outcome, { isCached: true });
      return true;
    }
    try {
      if (record.caps !== undefined) pruneQuery(query, record.caps);
      return false;
    } catch (error) {
      search.settle(record.id, without("skipped", error as Error));
      return true;
    }
  }

  /** All that a search wants of an indexer, when every page of it is in the cache. */
  #cached(id: string, { facts: { query, page } }: Search): FoundPage | undefined {
    const releases: Found[] = [];
    let more: More | undefined;
    do {
      const asked = more === undefined ? query : { ...query, offset: more.offset };
      const found = this.cache.page(taskKey(id, asked), this.parts.clock.now());
      if (found === undefined) return undefined;
      releases.push(...found.releases);
      more = found.releases.length === 0 ? undefined : found.more;
    } while (more !== undefined && releases.length < wantedOf(page));
    return { releases, more };
  }

  async #one<Result>(record: IndexerRecord, options: Partial<Submit>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<Completion<unknown>>();
    this.#scheduler.submit({
      params: { mode: options.budget === "grab" ? "download" : "caps" },
      maxWait: this.parts.settings.interactiveDeadlineMs,
      ...options,
      indexers: this.#limited([record]),
      onComplete: resolve,
    });
    const { results, error, status } = await promise;
    if (status === "ok") return results[0] as Result;
    throw error ?? new Fault(status);
  }

  #limited(records: readonly IndexerRecord[]): Indexer[] {
    return records.map((record) => this.parts.indexers.limited(record));
  }

  #chosen(ids: readonly string[] | undefined): IndexerRecord[] {
    const { indexers } = this.parts;
    if (ids === undefined) return [...indexers.all];
    return [...new Set(ids)].map((id) => indexers.get(id));
  }
}

/** Who asks for neither words nor ids polls a feed; all others are a person who waits. */
export function priorityOf(query: SearchQuery): Priority {
  return isFeed(query) ? "rss" : "interactive";
}

function tooMany(): SluiceError {
  const message = `${SEARCHES_RUNNING_MAX} searches are running already`;
  return new SluiceError("QUEUE_FULL", message, { retryAfterMs: RETRY_MS });
}

function resultsOf(results: readonly Found[]): Pick<Outcome<Found>, "status" | "results"> {
  return { status: results.length === 0 ? "empty" : "ok", results };
}
