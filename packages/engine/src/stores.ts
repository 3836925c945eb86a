import { checkInteger, invalid } from "./errors.ts";
import type { Teller } from "./facts/facts.ts";
import { SCAN_MAX } from "./limits.ts";
import { SortedMap } from "./tables/sorted-map.ts";

/** Which entries a scan answers: those that begin with `prefix` and come after `after`. */
export interface ScanOptions {
  prefix?: string;
  after?: string;
  limit?: number;
}

/**
 * Small keyed stores on the same facts as the jobs, for what apps and policies must remember.
 * Values are carried, not looked into. Scans are in order of the keys.
 */
export class Stores {
  readonly #core: Teller;
  readonly #stores = new Map<string, SortedMap<unknown>>();

  constructor(core: Teller) {
    this.#core = core;
  }

  put(store: string, key: string, value: unknown, now: number): void {
    const at = this.#core.clock(now);
    if (value === undefined) throw invalid("value", "given", value);
    let held = this.#stores.get(store);
    if (held === undefined) {
      held = new SortedMap();
      this.#stores.set(store, held);
    }
    held.set(key, value);
    this.#core.tell({ at, fact: "stored", store, key, value });
  }

  get(store: string, key: string): unknown {
    return this.#stores.get(store)?.get(key);
  }

  delete(store: string, key: string, now: number): boolean {
    const at = this.#core.clock(now);
    const held = this.#stores.get(store);
    const had = held?.delete(key) ?? false;
    if (held?.size === 0) this.#stores.delete(store);
    if (had) this.#core.tell({ at, fact: "stored", store, key, value: undefined });
    return had;
  }

  /**
   * At most `limit` entries in the order of their keys; the last key of a page is the `after` of
   * the next. It costs as much as it answers.
   */
  scan(store: string, { prefix = "", after, limit = 100 }: ScanOptions = {}): [string, unknown][] {
    checkInteger("limit", limit, 1, SCAN_MAX);
    const found: [string, unknown][] = [];
    const first = after !== undefined && after > prefix ? after : prefix;
    for (const entry of this.#stores.get(store)?.from(first) ?? []) {
      if (found.length >= limit || !entry[0].startsWith(prefix)) break;
      if (entry[0] !== after) found.push(entry);
    }
    return found;
  }

  *entries(): Generator<{ store: string; key: string; value: unknown }> {
    for (const [store, held] of this.#stores) {
      for (const [key, value] of held.from("")) yield { store, key, value };
    }
  }
}
