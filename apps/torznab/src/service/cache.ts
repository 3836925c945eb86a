/** What indexers answered lately, by indexer and search. The oldest go first when it is full. */
import { CACHE_ENTRIES_MAX, CACHE_ITEMS_MAX } from "../limits.ts";
import type { Found } from "./found.ts";

interface Entry {
  readonly found: readonly Found[];
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
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now) return entry.found;
    this.#delete(key, entry);
    return undefined;
  }

  put(key: string, found: readonly Found[], now: number): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#delete(key, before);
    if (this.#ttlMs === 0 || found.length > CACHE_ITEMS_MAX) return;
    this.#entries.set(key, { found, until: now + this.#ttlMs });
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
