/** The chore that moves capacity between tiers with the measured load. */
import type { Config, TierSize } from "./config.ts";
import type { Log } from "./log.ts";
import { sizesFor } from "./sizes.ts";
import type { ServerStats } from "./stats.ts";

const EVERY_MS = 5_000;

interface SizingParts {
  readonly config: Config;
  readonly stats: ServerStats;
  readonly apply: (sizes: readonly TierSize[]) => Promise<void>;
  readonly log: Log;
}

export class Sizing {
  readonly #config: Config;
  readonly #stats: ServerStats;
  readonly #apply: SizingParts["apply"];
  readonly #log: Log;
  #turnedAway: readonly number[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor({ config, stats, apply, log }: SizingParts) {
    this.#config = config;
    this.#stats = stats;
    this.#apply = apply;
    this.#log = log;
  }

  start(everyMs = EVERY_MS): void {
    if (this.#config.sizing === "fixed" || this.#config.tiers.length === 1) return;
    this.#timer = setInterval(() => {
      this.adjust().catch((error) => this.#log.warn(`sizes stay as they are: ${error.message}`));
    }, everyMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The load of a tier is who waits there and who did not find room since the last time. */
  async adjust(): Promise<void> {
    const depths = await this.#stats.depths();
    const turnedAway = this.#stats.books.map(({ rejected, spilled }) => rejected + spilled);
    const loads = depths.map(
      (depth, tier) => depth + turnedAway[tier]! - (this.#turnedAway[tier] ?? 0),
    );
    this.#turnedAway = turnedAway;
    const sizes = sizesFor(this.#config.tiers, loads);
    const before = this.#stats.sizes;
    if (sizes.every((capacity, tier) => capacity === before[tier]!.capacity)) return;
    const next = before.map(({ name }, tier) => ({ name, capacity: sizes[tier]! }));
    await this.#apply(next);
    this.#stats.sizes = next;
    const told = next.map(({ name, capacity }) => `${name} ${capacity}`).join(", ");
    this.#log.info(`sizes of the tiers are now ${told}`);
  }
}
