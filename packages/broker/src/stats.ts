import type { BrokerStats, QueueTimes, StatsOptions, TimeCounts } from "@sluice/protocol";
import { BATCH_MAX } from "./limits.ts";
import type { Oldest, OldestJobs } from "./oldest.ts";
import { invalid } from "./refuse.ts";
import type { Runtime } from "./runtime.ts";

export interface Sizes {
  payloadBytes: number;
  liveBytes: number;
  logBytes: number;
  unsyncedBytes: number;
}

export function sizesOf({ chunks, journal, log }: Runtime): Sizes {
  return {
    payloadBytes: chunks.residentBytes,
    liveBytes: chunks.liveBytes,
    logBytes: log.sizeBytes,
    unsyncedBytes: journal.unsyncedBytes,
  };
}

/** How the broker is doing. */
export async function statsOf(
  runtime: Runtime,
  adds: { read(): TimeCounts },
  oldest: OldestJobs,
  { queues: names = [], gates: keys = [], oldest: isOldestAsked = false }: StatsOptions,
): Promise<BrokerStats> {
  checkNames("queues", names);
  checkNames("gates", keys);
  // Before the call, which wakes the pump up.
  const { overdueMs } = runtime.pump;
  const waiting = isOldestAsked ? await oldest.read() : new Map<string, Oldest>();
  const queues = runtime.call((engine) => {
    const known = new Set(engine.queueNames());
    return names
      .filter((name) => known.has(name))
      .map((name): QueueTimes => {
        const script = runtime.policies.scriptStats(name);
        const times = { name, ...engine.queueTimes(name), ...waiting.get(name) };
        return script === undefined ? times : { ...times, script };
      });
  });
  const gates = runtime.call((engine, now) =>
    keys.map((key) => ({ key, ...engine.gateDecisions(key, now) })),
  );
  const { unsyncedMs } = runtime.journal;
  return { ...sizesOf(runtime), unsyncedMs, overdueMs, adds: adds.read(), queues, gates };
}

function checkNames(field: string, names: unknown): void {
  if (Array.isArray(names) && names.length <= BATCH_MAX) return;
  throw invalid(field, `at most ${BATCH_MAX} names`, names);
}
