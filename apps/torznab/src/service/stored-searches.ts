/** What must be known of a durable search for it to continue in the next process. */
import type { Sluice, Store } from "sluice";
import { Search, type SearchFacts } from "./search.ts";

interface Stored extends SearchFacts {
  readonly asked: readonly string[];
}

/** How long a search can be asked for after its deadline: as long as its results are kept. */
const KEPT_MS = 600_000;

export class StoredSearches {
  readonly #store: Store<Stored>;

  constructor(sluice: Sluice) {
    this.#store = sluice.store("torznab-searches");
  }

  async put({ id, facts, asked }: Search): Promise<void> {
    await this.#store.put(id, { ...facts, asked });
  }

  async drop({ id, facts }: Search): Promise<void> {
    if (facts.durable) await this.#store.delete(id);
  }

  /** Those of the process before; the ones that are too old are forgotten. */
  async left(now: number): Promise<Search[]> {
    const left: Search[] = [];
    for await (const { key, value } of this.#store.scan()) {
      const { asked, ...facts } = value;
      const search = new Search(facts);
      search.id = key;
      search.asked = asked;
      if (facts.deadline + KEPT_MS < now) await this.drop(search);
      else left.push(search);
    }
    return left;
  }
}
