/** How often each hash was completed, a scrape's `downloaded`. Never lost once answered. */
import type { Sluice, Store, StoreChange } from "sluice";
import { COMPLETED_MAX } from "../limits.ts";
import { fromHex, toHex } from "../wire/hex.ts";

export class CompletedCounts {
  readonly #store: Store<number>;
  /** In the order of their first completion. */
  readonly #counts = new Map<string, number>();

  private constructor(store: Store<number>) {
    this.#store = store;
  }

  static async open(sluice: Sluice): Promise<CompletedCounts> {
    const store = sluice.store<number>("retracker.completed");
    const counts = new CompletedCounts(store);
    for await (const { key, value } of store.scan()) {
      counts.#counts.set(fromHex(key), Number(value));
    }
    return counts;
  }

  of(hash: string): number {
    return this.#counts.get(hash) ?? 0;
  }

  /** Resolves when the count is durable. */
  async add(hash: string): Promise<void> {
    const count = this.of(hash) + 1;
    this.#counts.set(hash, count);
    const changes: StoreChange<number>[] = [{ key: toHex(hash), value: count }];
    if (this.#counts.size > COMPLETED_MAX) {
      const oldest = this.#counts.keys().next().value as string;
      this.#counts.delete(oldest);
      changes.push({ key: toHex(oldest) });
    }
    await this.#store.batch(changes);
  }
}
