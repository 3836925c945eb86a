/**
 * How long jobs of each type run, learned from those that ended. Small jobs are handed to a thread
 * several at a time: the message costs more than they do.
 */
import { LIST_MS } from "../limits.ts";

/** What the latest job counts for. */
const LATEST = 0.2;

export class Pace {
  readonly #ms = new Map<string, number>();

  /** Infinity while no job of the type has ended. */
  of(type: string): number {
    return this.#ms.get(type) ?? Infinity;
  }

  isSmall(type: string): boolean {
    return this.of(type) <= LIST_MS;
  }

  learn(type: string, tookMs: number): void {
    const before = this.#ms.get(type) ?? tookMs;
    this.#ms.set(type, before + (tookMs - before) * LATEST);
  }
}
