import type { GateSettings } from "../options/gate-options.ts";

/** One job that went out through a gate. */
export interface Dispatch {
  readonly at: number;
  readonly cost: number;
  readonly tier: number;
  /** When the broker knew that it had ended. */
  endedAt: number;
}

export interface Excess {
  readonly part: "rate" | "window" | "interval" | "concurrency";
  readonly text: string;
}

/** Tokens are sums of fractions: less than this is no excess. */
const TOKEN_ERROR = 1e-3;

/**
 * The first breach of each part of a gate's limits by its dispatches, over any time; for histories
 * of any broker. `slackMs`: by how much the times may be wrong.
 */
export function excesses(
  config: GateSettings,
  dispatches: readonly Dispatch[],
  slackMs = 0,
): Excess[] {
  const sorted = [...dispatches].sort((a, b) => a.at - b.at);
  return [
    ...overRate(config, sorted, slackMs),
    ...overWindows(config, sorted, slackMs),
    ...overInterval(config, sorted, slackMs),
    ...overConcurrency(config, sorted, slackMs),
  ];
}

/** The most tokens that a gate can have at a time, after the dispatches up to then. */
export function tokensLeft(
  config: GateSettings,
  dispatches: readonly Pick<Dispatch, "at" | "cost">[],
  now: number,
): number {
  const bucket = new Bucket(config, 0);
  for (const { at, cost } of dispatches) bucket.take(at, cost);
  return bucket.levelAt(now);
}

/** The cost that has gone out after a time. */
export function usedAfter(
  dispatches: readonly Pick<Dispatch, "at" | "cost">[],
  after: number,
): number {
  let used = 0;
  for (const { at, cost } of dispatches) if (at > after) used += cost;
  return used;
}

class Bucket {
  readonly #rate: number;
  readonly #burst: number;
  readonly #size: number;
  #level: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor({ rate = 0, burst = Math.max(1, rate) }: GateSettings, slackMs: number) {
    this.#rate = rate;
    this.#burst = burst;
    this.#size = burst + (rate * slackMs) / 1_000;
    this.#level = this.#size;
  }

  levelAt(at: number): number {
    const gained = this.#level === this.#size ? 0 : ((at - this.#at) * this.#rate) / 1_000;
    return Math.min(this.#size, this.#level + gained);
  }

  // A job that costs more than the burst has all of it to itself.
  take(at: number, cost: number): void {
    this.#level = this.levelAt(at) - Math.min(cost, this.#burst);
    this.#at = at;
  }
}

function overRate(config: GateSettings, all: readonly Dispatch[], slackMs: number): Excess[] {
  if (config.rate === undefined) return [];
  const bucket = new Bucket(config, slackMs);
  for (const { at, cost } of all) {
    bucket.take(at, cost);
    const level = bucket.levelAt(at);
    if (level < -TOKEN_ERROR) return [{ part: "rate", text: `${-level} tokens too many at ${at}` }];
  }
  return [];
}

function overWindows(
  { windows }: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): Excess[] {
  for (const { limit, per } of windows ?? []) {
    let used = 0;
    let from = 0;
    for (const { at, cost } of all) {
      while (all[from]!.at <= at - per + slackMs) used -= all[from++]!.cost;
      // A job that costs more than the limit has all of it to itself.
      const most = Math.max(limit, cost);
      used += cost;
      if (used <= most) continue;
      return [{ part: "window", text: `${used} of ${limit} in ${per} ms up to ${at}` }];
    }
  }
  return [];
}

function overInterval(
  { interval }: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): Excess[] {
  if (interval === undefined) return [];
  const factors = interval.factors ?? [1];
  for (const [i, { at, tier }] of all.entries()) {
    const before = all[i - 1];
    if (before === undefined) continue;
    const factor = factors[Math.min(tier, factors.length - 1)]!;
    const gap = Math.max(interval.floor ?? 0, interval.every * factor) - slackMs;
    const since = interval.from === "start" ? before.at : before.endedAt;
    if (at - since >= gap) continue;
    return [{ part: "interval", text: `${at - since} ms after the job before, at ${at}` }];
  }
  return [];
}

function overConcurrency(
  config: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): Excess[] {
  const isAlone = config.interval !== undefined && config.interval.from !== "start";
  const limit = isAlone ? 1 : (config.concurrency ?? Number.POSITIVE_INFINITY);
  const changes = all.flatMap(({ at, endedAt }) => [
    { at: at + slackMs, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  // What ends makes room for what starts in the same millisecond.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let running = 0;
  for (const { at, by } of changes) {
    running += by;
    if (running <= limit) continue;
    return [{ part: "concurrency", text: `${running} of ${limit} run at ${at}` }];
  }
  return [];
}
