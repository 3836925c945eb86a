// Lost wake-ups: a worker is free, a job could go out, nothing happens any more without time
// passing, and yet the job waits. Also: what was due by now has not happened.
//
// Asked when the broker is at rest: every timer up to now has fired. The broker's own counts are
// held against those of the follower on the way.

import { allQueues, type Broker, type GateInfo, type QueueInfo } from "@sluice/protocol";
import { demand, equal } from "../demand.ts";
import type { Follower } from "./follower.ts";
import type { WaitingJob } from "./strand.ts";

// The engine counts whole milli-tokens, and wakes up to a millisecond later than tokens are there.
const TOKEN_SLACK = 0.002;
const SLACK_MS = 2;
const GATES_MAX = 1_000;

export async function judgeRest(follower: Follower, broker: Broker, now: number): Promise<void> {
  const queues = await allQueues(broker);
  const gates = (await broker.gates({ limit: GATES_MAX })).items;
  for (const info of queues) compareCounts(follower, info);
  judgeTimers(follower, now);
  const open = new Set(queues.filter(canWork).map(({ name }) => name));
  const heads = [...follower.strands.keys()].map((strand) => follower.headOf(strand)!);
  const workable = heads.filter(({ queue }) => open.has(queue));
  const lost = lostOf(workable, new Map(gates.map((info) => [info.key, info])), now);
  if (lost === undefined) return;
  const { id, queue } = lost;
  demand(false, "wake-ups", () => {
    return `at ${now} job ${id} of ${queue} waits, a worker is free, [${lost.gates}] are open`;
  });
}

function canWork({ config, stats }: QueueInfo): boolean {
  return !stats.paused && stats.freeWorkers > 0 && stats.running < config.capacity.running;
}

function compareCounts({ engine }: Follower, { name, stats }: QueueInfo): void {
  const followed = engine.queries.queueStats(name);
  for (const what of ["waiting", "delayed", "running", "bytes"] as const) {
    equal("stats", `${what} of`, stats[what], followed[what], name);
  }
  for (const [tier, { waiting, running }] of stats.perTier.entries()) {
    equal("stats", `waiting in tier ${tier} of`, waiting, followed.perTier[tier]?.waiting, name);
    equal("stats", `running in tier ${tier} of`, running, followed.perTier[tier]?.running, name);
  }
}

function lostOf(
  heads: readonly WaitingJob[],
  gates: ReadonlyMap<string, GateInfo>,
  now: number,
): WaitingJob | undefined {
  const free = heads.find((head) => head.gates.length === 0);
  if (free !== undefined) return free;
  // The less urgent ones may rightly wait for the more urgent ones.
  for (const most of new Set(heads.map(({ tier }) => tier))) {
    const urgent = heads.filter(({ tier }) => tier <= most);
    const lost = openTogether(urgent, (head) => isOpen(head, gates, now));
    if (lost !== undefined) return lost;
  }
  return undefined;
}

// Strands that share gates, directly or through others, may rightly keep permits from one another.
// But when every gate of all of them is open, one of them must go out.
function openTogether(
  heads: readonly WaitingJob[],
  passes: (head: WaitingJob) => boolean,
): WaitingJob | undefined {
  const parents = new Map<string, string>();
  const rootOf = (key: string): string => {
    let at = key;
    for (let up = parents.get(at); up !== undefined; up = parents.get(at)) at = up;
    return at;
  };
  for (const { gates } of heads) {
    for (const key of gates) {
      const [from, to] = [rootOf(key), rootOf(gates[0]!)];
      if (from !== to) parents.set(from, to);
    }
  }
  const shut = new Set<string>();
  for (const head of heads) if (!passes(head)) shut.add(rootOf(head.gates[0]!));
  return heads.find(({ gates }) => !shut.has(rootOf(gates[0]!)));
}

function isOpen(
  { gates, cost, tier }: WaitingJob,
  infos: ReadonlyMap<string, GateInfo>,
  now: number,
): boolean {
  return gates.every((key) => {
    const info = infos.get(key);
    return info === undefined || lets(info, cost, tier, now);
  });
}

function lets(info: GateInfo, cost: number, tier: number, now: number): boolean {
  const { config, cooldown, inFlight, tokens, windows, opensAtByTier } = info;
  if (cooldown !== undefined && cooldown.until + SLACK_MS > now) return false;
  if (config === undefined) return true;
  const places = config.interval?.from === "end" ? 1 : (config.concurrency ?? Infinity);
  if (inFlight >= Math.min(places, config.concurrency ?? Infinity)) return false;
  const opensAt = opensAtByTier[Math.min(tier, opensAtByTier.length - 1)];
  if (opensAt === null || (opensAt ?? 0) > now) return false;
  if (config.rate !== undefined && tokens !== undefined) {
    const need = Math.min(cost, config.burst ?? Math.max(1, config.rate));
    if (tokens < need + TOKEN_SLACK + (config.rate * SLACK_MS) / 1_000) return false;
  }
  return windows.every(({ limit, used }) => used <= Math.max(0, limit - cost));
}

// What falls due by itself must have happened.
function judgeTimers({ timed, waiting }: Follower, now: number): void {
  for (const { id, state, time, extra } of timed.values()) {
    const isDue = extra?.runAt === undefined && time < now;
    demand(!isDue, "wake-ups", () => `job ${id}, ${state}, was due at ${time}, it is ${now}`);
  }
  for (const { id, extra } of waiting.values()) {
    const { deadline = Infinity, wallDeadline } = extra ?? {};
    const isOver = wallDeadline === undefined && deadline < now;
    demand(
      !isOver,
      "wake-ups",
      () => `job ${id} waits, its deadline was ${deadline}, it is ${now}`,
    );
  }
}
