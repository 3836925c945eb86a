/**
 * The list of preferred submitters, and the chore that keeps it fresh.
 *
 * It is fetched once at the start, which does not wait for it, and then again and again with
 * jitter. Whatever goes wrong, the last good list stays; it is on disk, so that it stays over a
 * restart too. Where none was ever good, the list is what the operator configured, or empty.
 */
import type { Store } from "sluice";
import { callOutside } from "sluice/http";
import type { Config } from "./config.ts";
import { loadList, saveList } from "./kept-list.ts";
import { LIST_BYTES_MAX, LIST_TIMEOUT_MS } from "./limits.ts";
import type { Log } from "./log.ts";
import { BadList, parseList } from "./parse-list.ts";
import type { Preferred, Submitters } from "./submitters.ts";

export type ListSource = "endpoint" | "disk" | "static" | "dummy" | "none";

export interface ListStatus {
  readonly size: number;
  readonly source: ListSource;
  readonly last_refresh: string | null;
  readonly last_error: string | null;
}

const DUMMY_IDS = [
  "worker-001",
  "worker-002",
  "worker-005",
  "worker-priority-1",
  "worker-priority-2",
  "worker-vip-1",
  "worker-high-priority-3",
  "worker-fast-lane-1",
];

/** So that many servers do not ask at the same moment. */
const JITTER = 0.1;

export class PriorityList {
  readonly #config: Config;
  readonly #submitters: Submitters;
  readonly #store: Store<string>;
  readonly #log: Log;
  readonly #over = new AbortController();
  #etag: string | undefined = undefined;
  #source: ListSource = "none";
  #refreshedAt: number | undefined = undefined;
  #error: string | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #fetching: Promise<void> = Promise.resolve();

  constructor(config: Config, submitters: Submitters, store: Store<string>, log: Log) {
    this.#config = config;
    this.#submitters = submitters;
    this.#store = store;
    this.#log = log;
  }

  get status(): ListStatus {
    return {
      size: this.#submitters.size,
      source: this.#source,
      last_refresh:
        this.#refreshedAt === undefined ? null : new Date(this.#refreshedAt).toISOString(),
      last_error: this.#error ?? null,
    };
  }

  /** Takes what is at hand, and begins to ask for more. */
  async start(): Promise<void> {
    const { endpoint, workerIds, hasDummyData, isPriorityOn } = this.#config;
    if (!isPriorityOn) return;
    if (workerIds !== undefined) this.#take(asList(workerIds), "static");
    else if (hasDummyData) this.#take(asList(DUMMY_IDS), "dummy");
    if (endpoint === undefined) return;
    const has = (tier: string): boolean => this.#config.tiers.some(({ name }) => name === tier);
    const kept = await loadList(this.#store);
    if (kept?.endpoint === endpoint.href) {
      // The tiers may be others than when it was kept: then it is asked for as if it were new.
      const isOfTheseTiers = kept.workers.every(({ tier }) => tier === undefined || has(tier));
      this.#etag = isOfTheseTiers ? kept.etag : undefined;
      this.#refreshedAt = kept.at;
      this.#take(kept.workers, "disk");
    }
    // The address alone: a path or a query may hold a key.
    this.#log.info(`Fetching initial priority list from external endpoint: ${endpoint.origin}`);
    void this.refresh();
  }

  /** Never rejects: what went wrong is in the status. One at a time, also for several callers. */
  refresh(): Promise<void> {
    this.#fetching = this.#fetching.then(() => this.#refresh());
    return this.#fetching;
  }

  async #refresh(): Promise<void> {
    if (this.#over.signal.aborted) return;
    try {
      await this.#fetch(this.#config.endpoint!);
      this.#error = undefined;
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.#error = (error as Error).message;
      this.#log.warn(`Priority list not updated, the last good one stays: ${this.#error}`);
    }
    if (!this.#over.signal.aborted) this.#arm();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#timer);
    await this.#fetching;
  }

  #arm(): void {
    const spread = 1 + JITTER * (2 * Math.random() - 1);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), this.#config.refreshMs * spread);
    this.#timer.unref();
  }

  async #fetch(endpoint: URL): Promise<void> {
    const { status, headers, body } = await callOutside(endpoint, {
      chooser: "operator",
      timeout: LIST_TIMEOUT_MS,
      bytesMax: LIST_BYTES_MAX,
      signal: this.#over.signal,
      headers: {
        accept: "application/json",
        ...(this.#etag === undefined ? {} : { "if-none-match": this.#etag }),
      },
    });
    const at = Date.now();
    if (status === 304 && this.#etag !== undefined) {
      this.#refreshedAt = at;
      if (this.#source === "disk") this.#source = "endpoint";
      return;
    }
    if (status !== 200) throw new BadList(`the endpoint answered ${status}`);
    const tiers = this.#config.tiers.map(({ name }) => name);
    const workers = parseList(body, tiers);
    const { etag } = headers;
    // It counts only once a restart would find it.
    await saveList(this.#store, { endpoint: endpoint.href, workers, etag, at });
    this.#etag = etag;
    this.#refreshedAt = at;
    this.#take(workers, "endpoint");
    this.#log.info(`Priority list updated with ${workers.length} workers from external endpoint`);
  }

  #take(list: readonly Preferred[], source: ListSource): void {
    this.#submitters.replace(list);
    this.#source = source;
  }
}

function asList(ids: readonly string[]): Preferred[] {
  return ids.map((id) => ({ id }));
}
