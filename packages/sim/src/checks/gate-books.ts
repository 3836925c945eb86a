// The books of all gates, each under the limits that its key or the longest pattern sets.

import type { GateConfig } from "@sluice/engine";
import { GateBook } from "./gate-book.ts";

export class GateBooks {
  readonly #books = new Map<string, GateBook>();
  readonly #configs = new Map<string, GateConfig>();

  clone(): GateBooks {
    const copy = new GateBooks();
    for (const [key, book] of this.#books) copy.#books.set(key, book.clone());
    for (const [pattern, config] of this.#configs) copy.#configs.set(pattern, config);
    return copy;
  }

  of(key: string, now: number): GateBook {
    const known = this.#books.get(key);
    if (known !== undefined) return known;
    const book = new GateBook(key);
    book.configure(this.#configOf(key), now);
    this.#books.set(key, book);
    return book;
  }

  set(pattern: string, config: GateConfig | undefined, now: number): void {
    if (config === undefined) this.#configs.delete(pattern);
    else this.#configs.set(pattern, config);
    for (const [key, book] of this.#books) {
      if (matches(pattern, key)) book.configure(this.#configOf(key), now);
    }
  }

  configured(): string[] {
    return [...this.#configs.keys()];
  }

  #configOf(key: string): GateConfig | undefined {
    let best: string | undefined;
    for (const pattern of this.#configs.keys()) {
      if (!matches(pattern, key)) continue;
      if (pattern === key) return this.#configs.get(key);
      if (best === undefined || pattern.length > best.length) best = pattern;
    }
    return best === undefined ? undefined : this.#configs.get(best);
  }
}

function matches(pattern: string, key: string): boolean {
  return pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : key === pattern;
}
