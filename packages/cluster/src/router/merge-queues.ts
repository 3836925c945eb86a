/** What several partitions say of one queue, as if it were one. */
import type {
  BrokerStats,
  GateDecisions,
  QueueInfo,
  QueueStats,
  QueueTimes,
  ScheduleStats,
  ScriptStats,
  TimeCounts,
  WorkerInfo,
} from "@sluice/protocol";

const SUMMED = [
  "waiting",
  "delayed",
  "running",
  "kept",
  "bytes",
  "lanes",
  "added",
  "dispatched",
  "finished",
  "failed",
  "retried",
  "expired",
  "cancelled",
  "dead",
  "redriven",
  "dropped",
  "rejected",
  "steps",
  "suspended",
  "signals",
  "freeWorkers",
] as const satisfies readonly (keyof QueueStats)[];

/** The first of them says how the queue is configured. */
export function mergeQueues(infos: readonly QueueInfo[], partitions: number): QueueInfo {
  const [first] = infos as readonly [QueueInfo, ...QueueInfo[]];
  const { name } = first;
  const config = partitions > 1 ? { ...first.config, spread: partitions } : first.config;
  if (infos.length === 1) return { name, config, stats: first.stats };
  return { name, config, stats: sumOf(infos.map(({ stats }) => stats)) };
}

function sumOf(all: readonly QueueStats[]): QueueStats {
  const [first] = all as readonly [QueueStats, ...QueueStats[]];
  const sum: QueueStats = { ...first };
  for (const field of SUMMED) sum[field] = total(all.map((stats) => stats[field]));
  sum.perTier = first.perTier.map(({ name }, tier) => ({
    name,
    waiting: total(all.map(({ perTier }) => perTier[tier]?.waiting ?? 0)),
    running: total(all.map(({ perTier }) => perTier[tier]?.running ?? 0)),
  }));
  return sum;
}

/** A worker of several partitions is one worker, with as many jobs as were asked for. */
export function mergeWorkers(
  lists: readonly (readonly WorkerInfo[])[],
  jobs?: number,
): WorkerInfo[] {
  const byName = new Map<string, WorkerInfo>();
  for (const worker of lists.flat()) {
    const known = byName.get(worker.name);
    if (known === undefined) byName.set(worker.name, { ...worker });
    else {
      known.free += worker.free;
      known.running += worker.running;
      if (known.jobs !== undefined) {
        const all = [...known.jobs, ...(worker.jobs ?? [])];
        known.jobs = all.sort((a, b) => a.since - b.since).slice(0, jobs);
      }
      if (known.since !== undefined && worker.since !== undefined) {
        known.since = Math.min(known.since, worker.since);
      }
    }
  }
  return [...byName.values()];
}

/** Sizes and counts of all together; of times that something has taken, the longest. */
export function mergeStats(all: readonly BrokerStats[], names: readonly string[]): BrokerStats {
  const queues = all.flatMap((stats) => stats.queues);
  return {
    payloadBytes: total(all.map((stats) => stats.payloadBytes)),
    liveBytes: total(all.map((stats) => stats.liveBytes)),
    logBytes: total(all.map((stats) => stats.logBytes)),
    unsyncedBytes: total(all.map((stats) => stats.unsyncedBytes)),
    unsyncedFor: Math.max(...all.map((stats) => stats.unsyncedFor)),
    overdueBy: Math.max(...all.map((stats) => stats.overdueBy)),
    adds: mergeCounts(all.map(({ adds }) => adds)),
    gates: mergeDecisions(all.flatMap(({ gates }) => gates)),
    schedules: mergeSchedules(all.map(({ schedules }) => schedules)),
    queues: [...new Set(names)].flatMap((name) => {
      const own = queues.filter((queue) => queue.name === name);
      return own.length === 0 ? [] : [mergeTimes(name, own)];
    }),
  };
}

function mergeSchedules(all: readonly ScheduleStats[]): ScheduleStats {
  const ticks: Record<string, number> = {};
  for (const stats of all) {
    for (const [outcome, count] of Object.entries(stats.ticks)) {
      ticks[outcome] = (ticks[outcome] ?? 0) + count;
    }
  }
  return { count: total(all.map(({ count }) => count)), ticks };
}

function mergeTimes(name: string, all: readonly QueueTimes[]): QueueTimes {
  const times: QueueTimes = {
    name,
    wait: mergeCounts(all.map(({ wait }) => wait)),
    run: mergeCounts(all.map(({ run }) => run)),
  };
  for (const { oldest, nextDueAt } of all) {
    if (
      oldest !== undefined &&
      oldest.addedAt < (times.oldest?.addedAt ?? Number.POSITIVE_INFINITY)
    )
      times.oldest = oldest;
    if (nextDueAt !== undefined)
      times.nextDueAt = Math.min(nextDueAt, times.nextDueAt ?? Number.POSITIVE_INFINITY);
  }
  const scripts = all.flatMap(({ script }) => (script === undefined ? [] : [script]));
  return scripts.length === 0 ? times : { ...times, script: mergeScripts(scripts) };
}

/** Jobs pass in every partition that has some for the gate. */
function mergeDecisions(all: readonly GateDecisions[]): GateDecisions[] {
  const byKey = new Map<string, GateDecisions>();
  for (const { key, passed, kept } of all) {
    const sum = byKey.get(key) ?? { key, passed: 0, kept: {} };
    sum.passed += passed;
    for (const [name, count] of Object.entries(kept)) {
      const part = name as keyof GateDecisions["kept"];
      sum.kept[part] = (sum.kept[part] ?? 0) + count;
    }
    byKey.set(key, sum);
  }
  return [...byKey.values()];
}

function mergeScripts(all: readonly ScriptStats[]): ScriptStats {
  return {
    runs: total(all.map(({ runs }) => runs)),
    failures: {
      error: total(all.map(({ failures }) => failures.error)),
      killed: total(all.map(({ failures }) => failures.killed)),
      timeout: total(all.map(({ failures }) => failures.timeout)),
    },
    times: mergeCounts(all.map(({ times }) => times)),
    isOpen: all.some(({ isOpen }) => isOpen),
  };
}

function mergeCounts(all: readonly TimeCounts[]): TimeCounts {
  const buckets = Math.max(...all.map(({ counts }) => counts.length));
  return {
    counts: Array.from({ length: buckets }, (_, i) =>
      total(all.map(({ counts }) => counts[i] ?? 0)),
    ),
    sum: total(all.map(({ sum }) => sum)),
  };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
