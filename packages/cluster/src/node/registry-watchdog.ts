/**
 * The one watch by which a node hears of claims. It can die without a word: the NATS server that
 * told it is gone for good, and the library notices after a minute and more. But whatever this node
 * writes must come back to it. What was written and has not come back in time is heard by a new
 * watch, which begins with all that is there; the old one ends when the new one is open.
 */
import type { Clock } from "@sluice/protocol";
import { DEAF_SHARE, START_MS_MAX, WATCH_MS_MAX } from "../limits.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { keepTrying } from "../within.ts";

export interface RegistryWatchdogOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** What is watched: our own entry is among it. */
  readonly keys: readonly string[];
  readonly onEntry: (entry: WatchedEntry) => void;
}

export class RegistryWatchdog {
  readonly #options: RegistryWatchdogOptions;
  #unwatch: (() => void) | undefined;
  /** A revision that was written and has not come back, and since when. */
  #awaited: { readonly revision: number; readonly since: number } | undefined;
  /** New watches since the last word of our own came back. */
  #failedWatches = 0;
  #isOpening = false;
  #isOver = false;

  constructor(options: RegistryWatchdogOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await keepTrying(this.#options.clock, START_MS_MAX, () => this.#open());
  }

  /** Of our own entry: the revision that was written last, and the one that was heard last. */
  look(written: number, heard: number): void {
    const now = this.#options.clock.now();
    const isHeard = heard >= (this.#awaited?.revision ?? written);
    if (isHeard) {
      this.#failedWatches = 0;
      this.#awaited = undefined;
    }
    if (heard < written) this.#awaited ??= { revision: written, since: now };
    if (this.#awaited === undefined || this.#isOpening || this.#isOver) return;
    if (now - this.#awaited.since < this.#patienceMs()) return;
    // A new one has its time too; one that could not be opened is tried again.
    this.#awaited = undefined;
    const opened = this.#open().then(() => this.#failedWatches++);
    opened.catch(() => {});
  }

  /** Longer each time: if all is slow, new watches that repeat everything make it slower. */
  #patienceMs(): number {
    const ms = this.#options.leaseMs * DEAF_SHARE * 2 ** this.#failedWatches;
    return Math.min(ms, WATCH_MS_MAX);
  }

  stop(): void {
    this.#isOver = true;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    const { registry, keys, onEntry } = this.#options;
    try {
      const unwatch = await registry.watch(keys, onEntry);
      this.#unwatch?.();
      this.#unwatch = unwatch;
      if (this.#isOver) unwatch();
    } finally {
      this.#isOpening = false;
    }
  }
}
