/** What the partitions say of one gate, as if it were one. */
import type { GateInfo } from "@sluice/protocol";

/**
 * The gate's home comes first: it counts what has passed in all partitions. Who waits or runs
 * is known where they do, and is put together here.
 */
export function mergeGates(infos: readonly GateInfo[]): GateInfo {
  const [home] = infos as readonly [GateInfo, ...GateInfo[]];
  if (infos.length === 1) return home;
  return {
    ...home,
    inFlight: infos.reduce((sum, { inFlight }) => sum + inFlight, 0),
    waitingLanes: infos.reduce((sum, { waitingLanes }) => sum + waitingLanes, 0),
    line: lineOf(infos),
  };
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
