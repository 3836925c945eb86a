/** What indexers answered lately, by indexer and search. The oldest go first when it is full. */
import { CACHE_ENTRIES_MAX, CACHE_ITEMS_MAX } from "../limits.ts";
import type { More } from "../scheduler/outcome.ts";
import type { Found } from "./found.ts";
import type { FoundPage } from "./pages.ts";

interface Entry {
  readonly found: readonly Found[];
  readonly more: More | undefined;
  readonly until: number;
}

export class ResultCache {
  readonly #ttlMs: number;
  readonly #entries = new Map<string, Entry>();
  #items = 0;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, now: number): readonly Found[] | undefined {
    return this.page(key, now)?.releases;
  }

  /** The same, and whether the indexer had more. */
  page(key: string, now: number): FoundPage | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now) return { releases: entry.found, more: entry.more };
    this.#delete(key, entry);
    return undefined;
  }

  put(key: string, found: readonly Found[], now: number, more?: More): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#delete(key, before);
    if (this.#ttlMs === 0 || found.length > CACHE_ITEMS_MAX) return;
    this.#entries.set(key, { found, more, until: now + this.#ttlMs });
    this.#items += found.length;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= CACHE_ENTRIES_MAX && this.#items <= CACHE_ITEMS_MAX) return;
      this.#delete(oldest, entry);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#items = 0;
  }

  #delete(key: string, { found }: Entry): void {
    this.#entries.delete(key);
    this.#items -= found.length;
  }
}
