/**
 * Which configuration a gate has: that of its own key, else that of the longest pattern.
 *
 * A pattern is a prefix and a trailing `*`. Prefixes are kept by their text, and the lengths that
 * exist are tried from the longest, so a match costs as many look-ups as there are lengths up to
 * the key's own, however many patterns there are.
 */
import type { GateConfig } from "./gate-state.ts";

export interface GateMatch {
  /** The configured key, with its `*` if it is a pattern. */
  readonly pattern: string;
  readonly config: GateConfig;
}

export class GatePatterns {
  /** By configured key. The key of a pattern is its own text, `*` included. */
  readonly #matches = new Map<string, GateMatch>();
  /** Lengths of the patterns' prefixes, longest first, and how many have each. */
  #lengths: number[] = [];
  readonly #counts = new Map<number, number>();

  get size(): number {
    return this.#matches.size;
  }

  set(pattern: string, config: GateConfig): void {
    const known = this.#matches.has(pattern);
    this.#matches.set(pattern, { pattern, config });
    if (!known && pattern.endsWith("*")) this.#count(pattern.length - 1, 1);
  }

  /** Whether there was one. */
  delete(pattern: string): boolean {
    if (!this.#matches.delete(pattern)) return false;
    if (pattern.endsWith("*")) this.#count(pattern.length - 1, -1);
    return true;
  }

  get(pattern: string): GateConfig | undefined {
    return this.#matches.get(pattern)?.config;
  }

  match(key: string): GateMatch | undefined {
    const exact = this.#matches.get(key);
    if (exact !== undefined) return exact;
    for (const length of this.#lengths) {
      if (length > key.length) continue;
      const match = this.#matches.get(`${key.slice(0, length)}*`);
      if (match !== undefined) return match;
    }
    return undefined;
  }

  /** In the order in which they were first set. */
  values(): IterableIterator<GateMatch> {
    return this.#matches.values();
  }

  #count(length: number, by: number): void {
    const count = (this.#counts.get(length) ?? 0) + by;
    if (count === 0) this.#counts.delete(length);
    else this.#counts.set(length, count);
    this.#lengths = [...this.#counts.keys()].sort((a, b) => b - a);
  }
}
