/** What the partitions say of one gate, as if it were one. */
import type { GateInfo } from "@sluice/protocol";

/**
 * The gate's home comes first and says how it is configured. What has been used is counted
 * together; of what shuts the gate, the longest counts.
 */
export function mergeGates(infos: readonly GateInfo[]): GateInfo {
  const [home] = infos as readonly [GateInfo, ...GateInfo[]];
  if (infos.length === 1) return home;
  return {
    ...home,
    tokens: tokensOf(infos),
    windows: home.windows.map((window, i) => ({
      ...window,
      used: total(infos.map(({ windows }) => windows[i]?.used ?? 0)),
    })),
    inFlight: total(infos.map(({ inFlight }) => inFlight)),
    ladderStep: Math.max(...infos.map(({ ladderStep }) => ladderStep)),
    cooldown: infos
      .map(({ cooldown }) => cooldown)
      .reduce((longest, one) => ((one?.until ?? 0) > (longest?.until ?? 0) ? one : longest)),
    opensAt: opensAtOf(infos),
    waitingLanes: total(infos.map(({ waitingLanes }) => waitingLanes)),
    line: lineOf(infos),
  };
}

/** What is left of one bucket, of which each partition has taken its part. */
function tokensOf(infos: readonly GateInfo[]): number | undefined {
  const [home] = infos as readonly [GateInfo, ...GateInfo[]];
  const { tokens, config } = home;
  if (tokens === undefined || config?.rate === undefined) return tokens;
  const burst = config.burst ?? Math.max(1, config.rate);
  return burst - total(infos.map((info) => burst - (info.tokens ?? burst)));
}

/** Undefined: when something is released, which nobody knows the time of. */
function opensAtOf(infos: readonly GateInfo[]): number | undefined {
  const times = infos.map(({ opensAt }) => opensAt);
  return times.reduce((latest, time) =>
    latest === undefined || time === undefined ? undefined : Math.max(latest, time),
  );
}

function lineOf(infos: readonly GateInfo[]): GateInfo["line"] {
  const places = new Map<string, { queue: string; tier: number; lanes: number }>();
  for (const place of infos.flatMap(({ line }) => line)) {
    const name = `${place.tier} ${place.queue}`;
    const known = places.get(name);
    if (known === undefined) places.set(name, { ...place });
    else known.lanes += place.lanes;
  }
  return [...places.values()];
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
