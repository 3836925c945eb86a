/**
 * Small keyed stores on the same facts as the jobs, for what apps and policies must remember.
 * Values are carried, not looked into. Scans are in order of the keys.
 */
export class Stores {
  readonly #stores = new Map<string, Map<string, unknown>>();

  put(store: string, key: string, value: unknown): void {
    let held = this.#stores.get(store);
    if (held === undefined) {
      held = new Map();
      this.#stores.set(store, held);
    }
    held.set(key, value);
  }

  get(store: string, key: string): unknown {
    return this.#stores.get(store)?.get(key);
  }

  delete(store: string, key: string): boolean {
    const held = this.#stores.get(store);
    const had = held?.delete(key) ?? false;
    if (held?.size === 0) this.#stores.delete(store);
    return had;
  }

  /** The entries whose keys begin with `prefix` and come after `after`, at most `limit`. */
  scan(store: string, prefix: string, after: string, limit: number): [string, unknown][] {
    const found: [string, unknown][] = [];
    for (const entry of this.#stores.get(store) ?? []) {
      if (entry[0].startsWith(prefix) && entry[0] > after) found.push(entry);
    }
    return found.sort((a, b) => (a[0] < b[0] ? -1 : 1)).slice(0, limit);
  }

  *entries(): Generator<{ store: string; key: string; value: unknown }> {
    for (const [store, held] of this.#stores) {
      for (const [key, value] of held) yield { store, key, value };
    }
  }
}
