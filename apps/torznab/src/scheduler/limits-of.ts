/**
 * The gates of an indexer: one for what it is asked, one for what is fetched from it, and one that
 * it shares with the other indexers of its host.
 */
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

/** What all indexers of a host share. Every request counts: searches, caps and downloads. */
export interface HostLimits {
  /** Spacing between the starts of two requests, the same for every priority. */
  interval?: Duration | undefined;
  windows?: readonly Window[] | undefined;
  /** Requests at once. */
  concurrency?: number | undefined;
}

/** An indexer as the gates see it. */
export interface Limited extends IndexerLimits {
  readonly id: string;
  readonly host?: (HostLimits & { readonly id: string }) | undefined;
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

export function hostKey(host: string): string {
  return `host:${host}`;
}

export function hostGateOptions({ interval, windows, concurrency }: HostLimits): GateOptions {
  return {
    ...(interval === undefined ? {} : { interval: { every: interval, from: "start" } }),
    ...(concurrency === undefined ? {} : { concurrency }),
    windows: windows ?? [],
  };
}

/** The gates that a request passes, by key. */
function gatesOf(indexer: Limited, budget: Budget): Map<string, GateOptions> {
  const gates = new Map([[gateKey(indexer.id, budget), gateOptions(indexer, budget)]]);
  const { host } = indexer;
  if (host !== undefined) gates.set(hostKey(host.id), hostGateOptions(host));
  return gates;
}

export function gateKeys(indexer: Limited, budget: Budget = "query"): string[] {
  return [...gatesOf(indexer, budget).keys()];
}

/** Sets gates when they are new or have changed; what was used of them stays. */
export class IndexerGates {
  readonly #sluice: Sluice;
  readonly #set = new Map<string, string>();

  constructor(sluice: Sluice) {
    this.#sluice = sluice;
  }

  async configure(indexer: Limited, budget: Budget): Promise<void> {
    for (const [key, options] of gatesOf(indexer, budget)) {
      const text = JSON.stringify(options);
      if (this.#set.get(key) === text) continue;
      await this.#sluice.gate(key).set(options);
      this.#set.set(key, text);
    }
  }
}
