// The limits of one gate, held against all that went out of all partitions, at its true times.

import type { GateSettings } from "@sluice/protocol";

export interface Dispatch {
  readonly at: number;
  readonly cost: number;
  readonly tier: number;
  // When the broker heard of the job's end.
  endedAt: number;
}

// What goes beyond the limits, in words. `slackMs`: by how much the times may be wrong.
export function excesses(
  config: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): string[] {
  const sorted = [...all].sort((a, b) => a.at - b.at);
  return [
    ...overRate(config, sorted, slackMs),
    ...overWindows(config, sorted, slackMs),
    ...overInterval(config, sorted, slackMs),
    ...overConcurrency(config, sorted, slackMs),
  ];
}

function overRate(
  { rate, burst }: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): string[] {
  if (rate === undefined || rate === null) return [];
  const size = (burst ?? Math.max(1, rate)) + (rate * slackMs) / 1000;
  let level = size;
  let last = Number.NEGATIVE_INFINITY;
  for (const { at, cost } of all) {
    level = Math.min(size, level + ((at - last) * rate) / 1000) - cost;
    last = at;
    if (level < -1e-6) return [`the rate is exceeded by ${-level} at ${at}`];
  }
  return [];
}

function overWindows(
  { windows }: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): string[] {
  for (const { limit, per } of windows ?? []) {
    let used = 0;
    let from = 0;
    for (const { at, cost } of all) {
      used += cost;
      while (all[from]!.at <= at - per + slackMs) used -= all[from++]!.cost;
      if (used > limit) return [`${used} of ${limit} in ${per} ms up to ${at}`];
    }
  }
  return [];
}

function overInterval(
  { interval }: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): string[] {
  if (interval === undefined || interval === null) return [];
  const factors = interval.factors ?? [1];
  for (const [i, { at, tier }] of all.entries()) {
    const before = all[i - 1];
    if (before === undefined) continue;
    const factor = factors[Math.min(tier, factors.length - 1)]!;
    const gap = Math.max(interval.floor ?? 0, interval.every * factor) - slackMs;
    const since = interval.from === "start" ? before.at : before.endedAt;
    if (at - since < gap) return [`${at - since} ms after the job before, at ${at}`];
  }
  return [];
}

function overConcurrency(
  config: GateSettings,
  all: readonly Dispatch[],
  slackMs: number,
): string[] {
  const isAlone = config.interval !== undefined && config.interval?.from !== "start";
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
    if (running > limit) return [`${running} of ${limit} run at ${at}`];
  }
  return [];
}
