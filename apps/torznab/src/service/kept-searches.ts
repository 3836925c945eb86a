/** The searches that can be asked for: all that run, and the latest that are done. */
import { SluiceError } from "sluice";
import { SEARCH_ITEMS_MAX, SEARCHES_MAX } from "../limits.ts";
import type { Search } from "./search.ts";

export class KeptSearches {
  readonly #byId = new Map<string, Search>();

  get all(): readonly Search[] {
    return [...this.#byId.values()];
  }

  find(id: string): Search | undefined {
    return this.#byId.get(id);
  }

  get(id: string): Search {
    const search = this.#byId.get(id);
    if (search !== undefined) return search;
    throw new SluiceError("NOT_FOUND", `there is no search ${id.slice(0, 100)}`);
  }

  /** The oldest that are done make room; answers those. */
  keep(search: Search): Search[] {
    this.#byId.set(search.id, search);
    const dropped: Search[] = [];
    let size = this.all.reduce((sum, one) => sum + one.size, 0);
    for (const [id, one] of this.#byId) {
      if (this.#byId.size <= SEARCHES_MAX && size <= SEARCH_ITEMS_MAX) break;
      if (!one.isDone) continue;
      this.#byId.delete(id);
      dropped.push(one);
      size -= one.size;
    }
    return dropped;
  }
}
