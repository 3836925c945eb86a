// The engine's own view of queues and jobs against the harness's ledger.

import type { Engine } from "@sluice/engine";
import { demand, equal } from "../model/broken.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerJob } from "./ledger-job.ts";

export function compareStats(engine: Engine, ledger: Ledger): void {
  for (const [name, queue] of ledger.queues) {
    const stats = engine.queueStats(name);
    equal("stats", "waiting of", stats.waiting, queue.waiting, name);
    equal("stats", "delayed of", stats.delayed, queue.delayed, name);
    equal("stats", "leased of", stats.running, queue.leased, name);
    equal("stats", "bytes of", stats.bytes, queue.bytes, name);
    for (const [tier, { waiting, running }] of stats.perTier.entries()) {
      equal("stats", `waiting in tier ${tier} of`, waiting, queue.waitingAt[tier], name);
      equal("stats", `leased in tier ${tier} of`, running, queue.leasedAt[tier], name);
    }
  }
}

export function compareAll(engine: Engine, ledger: Ledger, now: number): void {
  const names = engine.queueNames().sort().join();
  equal("stats", "names", names, [...ledger.queues.keys()].sort().join());
  compareStats(engine, ledger);
  for (const job of ledger.jobs.values()) {
    compareJob(engine, job);
    // A window may be over before its job is, and is noticed by the next tick.
    const isHeld = ledger.keys.holder(job.queue, job.dedupe ?? "", now) === job.id;
    const shown = engine.job(job.id)?.dedupe;
    if (isHeld || shown !== undefined) equal("jobs", "dedupe key of", shown, job.dedupe, job.id);
  }
  for (const pattern of ledger.gates.configured()) compareGate(engine, ledger, pattern, now);
  for (const [name, members] of ledger.groups) {
    const group = engine.group(name);
    const known = new Set(group?.members.filter(({ state }) => !state).map(({ id }) => id));
    const isWhole = group?.ended === false && [...members].every((id) => known.has(id));
    demand(
      isWhole,
      "groups",
      () => `group ${name} has ${members.size} members that have not ended`,
    );
  }
}

function compareJob(engine: Engine, job: LedgerJob): void {
  const view = engine.job(job.id);
  if (view === undefined) {
    return demand(false, "no job lost", () => `job ${job.id}, ${job.state}, is not there`);
  }
  equal("jobs", "queue of", view.queue, job.queue, job.id);
  equal("jobs", "state of", view.state, stateOf(job), job.id);
  equal("jobs", "tier of", view.tier, job.tier, job.id);
  equal("jobs", "attempt of", view.attempt, job.attempt, job.id);
  equal("jobs", "attempts of", view.attempts, job.attempts, job.id);
  equal("jobs", "lease of", view.lease, job.lease, job.id);
  equal("jobs", "cost of", view.cost, job.cost, job.id);
  equal("jobs", "body of", view.body, job.body, job.id);
  equal("jobs", "deadline of", view.deadline ?? Infinity, job.deadline, job.id);
  equal("jobs", "gates of", [...view.gates].sort().join(), job.gates.join(), job.id);
  equal("jobs", "origin of", view.dead?.origin, job.origin?.queue, job.id);
  if (job.state !== "waiting") equal("jobs", "time of", view.at, job.time, job.id);
}

function stateOf({ state, origin }: LedgerJob): string {
  if (state === "leased") return "running";
  return state === "waiting" && origin !== undefined ? "dead" : state;
}

function compareGate(engine: Engine, ledger: Ledger, key: string, now: number): void {
  if (key.endsWith("*")) return;
  const stats = engine.gateStats(key, now);
  const book = ledger.gates.of(key, now);
  equal("gates", "leases through", stats.inFlight, book.inFlight, key);
  const cooldown = stats.cooldown?.until ?? -Infinity;
  const known = book.cooldownUntil > now ? book.cooldownUntil : -Infinity;
  equal("gates", "cooldown of", cooldown, known, key);
  if (stats.tokens === undefined) return;
  const apart = Math.abs(stats.tokens - book.tokens(now));
  demand(apart <= 0.011, "gates", () => {
    return `gate ${key} has ${stats.tokens} tokens, its takes leave ${book.tokens(now)}`;
  });
}
