import type { Log } from "@sluice/log";
import type { BrokerStats, QueueTimes, StatsOptions, TimeCounts } from "@sluice/protocol";
import type { Chunks } from "./chunks.ts";
import type { EngineCalls } from "./engine-calls.ts";
import type { Journal } from "./journal.ts";
import { type Oldest, OldestJobs } from "./oldest.ts";
import type { Policies } from "./policy/policies.ts";
import type { Pump } from "./pump.ts";
import type { ScheduleTicks } from "./schedules/schedule-ticks.ts";

export interface Sizes {
  payloadBytes: number;
  liveBytes: number;
  logBytes: number;
  unsyncedBytes: number;
}

interface StatsParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly journal: Journal;
  readonly log: Log;
  readonly policies: Policies;
  readonly pump: Pump;
  readonly scheduleTicks: ScheduleTicks;
}

/** How the broker is doing. */
export class StatsCalls {
  readonly #of: StatsParts;
  readonly #addTimes: { read(): TimeCounts };
  readonly #oldest: OldestJobs;

  constructor(of: StatsParts, addTimes: { read(): TimeCounts }) {
    this.#of = of;
    this.#addTimes = addTimes;
    this.#oldest = new OldestJobs(of.calls);
  }

  sizes(): Sizes {
    const { chunks, journal, log } = this.#of;
    return {
      payloadBytes: chunks.residentBytes,
      liveBytes: chunks.liveBytes,
      logBytes: log.sizeBytes,
      unsyncedBytes: journal.unsyncedBytes,
    };
  }

  async stats(options: StatsOptions = {}): Promise<BrokerStats> {
    const { queues: names = [], gates: keys = [], oldest: isOldestAsked = false } = options;
    const { calls, journal, policies, pump } = this.#of;
    // Before the call, which wakes the pump up.
    const { overdueMs: overdueBy } = pump;
    const waiting = isOldestAsked ? await this.#oldest.read() : new Map<string, Oldest>();
    const queues = calls.call((engine) => {
      const known = new Set(engine.queries.queueNames());
      return names
        .filter((name) => known.has(name))
        .map((name): QueueTimes => {
          const script = policies.scriptStats(name);
          const times = { name, ...engine.queries.queueTimes(name), ...waiting.get(name) };
          return script === undefined ? times : { ...times, script };
        });
    });
    const gates = calls.call((engine, now) =>
      keys.map((key) => ({ key, ...engine.queries.gateDecisions(key, now) })),
    );
    const { unsyncedMs: unsyncedFor } = journal;
    const adds = this.#addTimes.read();
    const schedules = this.#of.scheduleTicks.stats();
    return { ...this.sizes(), unsyncedFor, overdueBy, adds, queues, gates, schedules };
  }
}
