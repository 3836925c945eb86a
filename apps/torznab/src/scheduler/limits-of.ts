/** The gates of an indexer: one for what it is asked, one for what is fetched from it. */
import type { Duration, GateOptions, Sluice } from "sluice";
import { INTERVAL_FACTORS } from "./priority.ts";

/** Queries and downloads are counted apart, as the indexers themselves do. */
export type Budget = "query" | "grab";

export interface Window {
  limit: number;
  per: Duration;
}

/** What the user knows of an indexer's rules. Nothing of this is ever inferred from an answer. */
export interface IndexerLimits {
  /** Base spacing between two requests, from the end of the first. Default one minute. */
  interval?: Duration | undefined;
  /** No priority waits less than this. */
  floor?: Duration | undefined;
  windows?: readonly Window[] | undefined;
  /** The same for downloads, which have no spacing. */
  grabs?: readonly Window[] | undefined;
}

const BASE_INTERVAL_MS = 60_000;

/** The rungs that the programs of this field use, so that indexers see what they are used to. */
export const LADDER = ["1m", "5m", "15m", "30m", "1h", "3h", "6h", "12h", "24h"] as const;

export function gateKey(indexerId: string, budget: Budget = "query"): string {
  return budget === "query" ? `indexer:${indexerId}` : `grab:${indexerId}`;
}

export function gateOptions(limits: IndexerLimits, budget: Budget): GateOptions {
  const { interval = BASE_INTERVAL_MS, floor, windows, grabs } = limits;
  if (budget === "grab") return { windows: grabs ?? [], concurrency: 1, ladder: LADDER };
  return {
    interval: { every: interval, from: "end", factors: INTERVAL_FACTORS, floor },
    windows: windows ?? [],
    concurrency: 1,
    ladder: LADDER,
  };
}

/** Sets gates when they are new or have changed; what was used of them stays. */
export class IndexerGates {
  readonly #sluice: Sluice;
  readonly #set = new Map<string, string>();

  constructor(sluice: Sluice) {
    this.#sluice = sluice;
  }

  async configure(indexer: IndexerLimits & { id: string }, budget: Budget): Promise<void> {
    const key = gateKey(indexer.id, budget);
    const options = gateOptions(indexer, budget);
    const text = JSON.stringify(options);
    if (this.#set.get(key) === text) return;
    await this.#sluice.gate(key).set(options);
    this.#set.set(key, text);
  }
}
