// Lost wake-ups: a worker is free, a job could go out, and the engine has said that there is
// nothing to do before a later time, or never.

import type { Demand } from "../broker/demand.ts";
import { Broken } from "../model/broken.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerJob } from "./ledger-job.ts";
import type { Strand } from "./strand.ts";

// The engine counts whole milli-tokens and wakes up to a millisecond later than the books here.
const SLACK_MS = 2;

// Answers a job that waits for nothing, if there is one.
export function lostWake(
  ledger: Ledger,
  demand: Demand,
  now: number,
  wakeAt: number,
): LedgerJob | undefined {
  // After a crash the clock may be behind the last fact, which the engine's own time never is.
  if (wakeAt <= Math.max(now, ledger.now) + SLACK_MS) return undefined;
  const workable = new Map<string, boolean>();
  const strands: Strand[] = [];
  const all: Strand[] = [];
  for (const strand of ledger.strands.values()) {
    if (strand.size === 0) continue;
    if (strand.gates.length > 0) all.push(strand);
    let canWork = workable.get(strand.queue);
    if (canWork === undefined) {
      canWork = isWorkable(ledger, demand, strand.queue);
      workable.set(strand.queue, canWork);
    }
    if (!canWork) continue;
    if (strand.gates.length === 0) return strand.head;
    strands.push(strand);
  }
  const tiers = [...new Set(strands.map(({ tier }) => tier))];
  for (const most of tiers) {
    const urgent = strands.filter(({ tier }) => tier <= most);
    // A worker that died without a word still counts as free in the engine, so what waits there may
    // keep others waiting too.
    const lost = lostBehind(
      ledger,
      urgent,
      all.filter(({ tier }) => tier <= most),
      now,
    );
    if (lost !== undefined) return lost.head;
  }
  return undefined;
}

function isWorkable(ledger: Ledger, demand: Demand, name: string): boolean {
  const { config, leased } = ledger.queue(name);
  return !config.paused && leased < config.capacity.running && demand.isFree(name);
}

// Strands that share gates, directly or through others, may rightly keep permits from one another.
// But when every gate of all of them is open, one of them must go out.
function lostBehind(
  ledger: Ledger,
  strands: readonly Strand[],
  all: readonly Strand[],
  now: number,
): Strand | undefined {
  const parents = new Map<string, string>();
  const rootOf = (key: string): string => {
    let at = key;
    for (let up = parents.get(at); up !== undefined; up = parents.get(at)) at = up;
    return at;
  };
  for (const { gates } of all) {
    for (const key of gates) {
      const [from, to] = [rootOf(key), rootOf(gates[0]!)];
      if (from !== to) parents.set(from, to);
    }
  }
  const shut = new Set<string>();
  for (const strand of all) if (!isOpen(ledger, strand, now)) shut.add(rootOf(strand.gates[0]!));
  return strands.find(({ gates }) => !shut.has(rootOf(gates[0]!)));
}

function isOpen(ledger: Ledger, { gates, head, tier }: Strand, now: number): boolean {
  const at = now - SLACK_MS;
  return gates.every((key) => ledger.gates.of(key, at).blocks(head!.cost, tier, at) === undefined);
}

// What falls due by itself must have been announced too.
export function judgeTimers(ledger: Ledger, now: number, wakeAt: number): void {
  if (wakeAt <= Math.max(now, ledger.now)) return;
  for (const job of ledger.jobs.values()) {
    const dueAt = job.state === "waiting" ? Infinity : job.time;
    const at = job.state === "leased" ? dueAt : Math.min(dueAt, job.deadline);
    if (at > now) continue;
    throw new Broken(
      "wake-ups",
      `at ${now} job ${job.id}, ${job.state}, was due at ${at} and the engine sleeps until ${wakeAt}`,
    );
  }
}
