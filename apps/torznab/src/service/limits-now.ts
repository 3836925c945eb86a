/** The limits of an indexer as they are now: those of its own gate and those of its host's. */
import type { GateInfo } from "sluice";
import { type Budget, gateKey, gateOptions, hostKey } from "../scheduler/limits-of.ts";
import { INTERVAL_FACTORS } from "../scheduler/priority.ts";
import type { IndexerRecord } from "./indexers.ts";
import type { Parts } from "./parts.ts";

/** The indexer's own gate first, then the one of its host where limits are set for it. */
export async function limitsNow(
  { sluice, indexers }: Pick<Parts, "sluice" | "indexers">,
  record: IndexerRecord,
  budget: Budget = "query",
): Promise<readonly [GateInfo, GateInfo?]> {
  const { host, ...limits } = indexers.limited(record);
  const gate = sluice.gate(gateKey(record.id, budget));
  const info = await gate.info();
  // An indexer that was never asked has no gate yet.
  const own = info.config === undefined ? await gate.set(gateOptions(limits, budget)) : info;
  return host === undefined ? [own] : [own, await sluice.gate(hostKey(host.id)).info()];
}

/** The gate has a clock of its own, which never goes back: the two are a little apart. */
const CLOCKS_APART_MS = 50;

/** When the limits let a request go, if nothing else waits. */
export function nextAt(
  [own, host]: readonly [GateInfo, GateInfo?],
  tier: number,
  now: number,
): number {
  const at = opensAt(own, tier, now);
  const shared = host === undefined ? now : opensAt(host, tier, now);
  // While it is being asked, its spacing begins now at the earliest.
  const spaced = own.inFlight === 0 ? now : now + spacingMs(own, tier);
  return Math.max(at, shared, spaced);
}

function opensAt({ opensAtByTier }: GateInfo, tier: number, now: number): number {
  const at = opensAtByTier[Math.min(tier, opensAtByTier.length - 1)] ?? now;
  return at <= now + CLOCKS_APART_MS ? now : at;
}

function spacingMs({ config }: GateInfo, tier: number): number {
  const { every = 0, floor = 0 } = config?.interval ?? {};
  return Math.max(every * INTERVAL_FACTORS[tier]!, floor);
}

/** Whether all requests that may run at once do. */
export function isBusy([own, host]: readonly [GateInfo, GateInfo?]): boolean {
  const isFull = host !== undefined && host.inFlight >= (host.config?.concurrency ?? Infinity);
  return own.inFlight > 0 || isFull;
}

export interface Ahead {
  /** Of each request that waits for the same indexer and goes first, in their order. */
  readonly tiers: readonly number[];
  /** What a request of this indexer usually takes. */
  readonly tookMs: number;
}

/** The earliest time of a request behind those that wait for the same indexer. */
export function nextBehind(
  gates: readonly [GateInfo, GateInfo?],
  tier: number,
  now: number,
  { tiers, tookMs }: Ahead,
): number {
  const [own] = gates;
  const [first = tier, ...rest] = [...tiers, tier];
  const starts = [nextAt(gates, first, now)];
  for (const next of tiers.length === 0 ? [] : rest) {
    const spaced = starts.at(-1)! + tookMs + spacingMs(own, next);
    // Requests that are counted already leave their window at times that only the gate knows.
    const full = own.windows.map(({ limit, per }) => (starts.at(-limit) ?? -Infinity) + per);
    starts.push(Math.max(spaced, ...full));
  }
  return starts.at(-1)!;
}
