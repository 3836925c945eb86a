/** What was asked of indexers, the latest first: so many rows, kept over restarts. */
import type { Sluice, Store, StoreChange } from "sluice";
import type { Status } from "../scheduler/outcome.ts";

export interface HistoryRow {
  readonly at: number;
  readonly endedAt: number;
  readonly indexer: string;
  readonly kind: "search" | "caps" | "download";
  readonly what: string;
  readonly status: Status;
  readonly count: number;
  readonly error?: string;
}

export class SearchHistory {
  readonly #store: Store<HistoryRow>;
  readonly #max: number;
  readonly #rows: { key: string; value: HistoryRow }[] = [];
  #sequence = 0;

  private constructor(store: Store<HistoryRow>, max: number) {
    this.#store = store;
    this.#max = max;
  }

  static async open(sluice: Sluice, max: number): Promise<SearchHistory> {
    const history = new SearchHistory(sluice.store<HistoryRow>("torznab-history"), max);
    for await (const row of history.#store.scan()) history.#rows.push(row);
    history.#sequence = Number(history.#rows.at(-1)?.key ?? 0);
    return history;
  }

  rows({ indexer, limit }: { indexer?: string | undefined; limit: number }): HistoryRow[] {
    const all = this.#rows.map(({ value }) => value).reverse();
    return all.filter((row) => indexer === undefined || row.indexer === indexer).slice(0, limit);
  }

  last(indexer: string): HistoryRow | undefined {
    return this.#rows.findLast(({ value }) => value.indexer === indexer)?.value;
  }

  async add(value: HistoryRow): Promise<void> {
    const key = String(++this.#sequence).padStart(12, "0");
    this.#rows.push({ key, value });
    const old = this.#rows.splice(0, Math.max(0, this.#rows.length - this.#max));
    const changes: StoreChange<HistoryRow>[] = [
      { key, value },
      ...old.map((row) => ({ key: row.key })),
    ];
    await this.#store.batch(changes);
  }
}
