// Compares everything that the engine reports with the model, after every call.

import type { GateStats, JobView, QueueStats } from "@sluice/engine";
import { Broken, demand, equal } from "../demand.ts";
import type { ModelGate } from "./gate.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import type { ModelQueue } from "./queue.ts";

// What the comparison asks of the engine.
export interface Watched {
  job(id: number): JobView | undefined;
  queueNames(): string[];
  queueStats(name: string): QueueStats;
  gateStats(key: string, now: number): GateStats;
  group(name: string): GroupView | undefined;
}

export interface GroupView {
  readonly ended: boolean;
  readonly members: readonly { readonly id: number; readonly state?: string }[];
}

// The engine counts tokens in thousandths.
const TOKEN_GRAIN = 0.001;

// Ended jobs are many and do not change: they are looked at when they end, and now and then.
const CALLS_BETWEEN_FULL_LOOKS = 25;

export function compare(model: Model, engine: Watched): void {
  const isFull = model.call % CALLS_BETWEEN_FULL_LOOKS === 0;
  for (const queue of model.queues.values()) {
    for (const job of queue.waiting) compareJob(job, engine.job(job.id));
    for (const job of queue.delayed) compareJob(job, engine.job(job.id));
    for (const job of queue.leased) compareJob(job, engine.job(job.id));
    for (let at = queue.kept.length - 1; at >= 0; at--) {
      const job = queue.kept[at]!;
      if (!isFull && job.endedIn !== model.call) break;
      compareJob(job, engine.job(job.id));
    }
  }
  for (const [name, members] of model.groups) compareGroup(name, members, engine.group(name));
  const names = [...engine.queueNames()].sort().join(" ");
  equal("queues", "names", names, [...model.queues.keys()].sort().join(" "));
  for (const queue of model.queues.values()) compareQueue(queue, engine.queueStats(queue.name));
  for (const gate of model.gates.all()) {
    compareGate(gate, engine.gateStats(gate.key, model.now), model.now);
  }
}

function compareJob(job: ModelJob, view: JobView | undefined): void {
  const rule = "state of a job";
  if (view === undefined) throw new Broken(rule, `job ${job.id} (${job.state}) is unknown`);
  const of = job.id;
  equal(rule, "state of job", view.state, stateOf(job), of);
  equal(rule, "queue of job", view.queue, job.queue, of);
  equal(rule, "tier of job", view.tier, job.tier, of);
  equal(rule, "lease of job", view.lease, job.lease, of);
  equal(rule, "deliveries of job", view.deliveries, job.lease - job.leasesBefore, of);
  equal(rule, "body of job", view.body, job.body, of);
  equal(rule, "origin of job", view.dead?.origin, job.origin, of);
  if (job.state === "ended") {
    equal(rule, "wait of job", view.waited !== undefined, job.ending === "wait-too-long", of);
    return;
  }
  equal(rule, "attempt of job", view.attempt, job.attempt, of);
  equal(rule, "attempts of job", view.attempts, job.attempts, of);
  equal(rule, "deadline of job", view.deadline, job.deadline, of);
  if (job.state !== "waiting") equal(rule, "time of job", view.at, job.at, of);
}

function compareGroup(
  name: string,
  members: ReadonlyMap<number, string | undefined>,
  view: GroupView | undefined,
): void {
  const rule = "groups";
  equal(rule, "members of group", view?.members.length, members.size, name);
  for (const { id, state } of view?.members ?? []) {
    equal(rule, `state of member ${id} of group`, state, endState(members.get(id)), name);
  }
  const isEnded = [...members.values()].every((ending) => ending !== undefined);
  equal(rule, "end of group", view?.ended, isEnded, name);
}

// In the words of users.
function stateOf({ state, ending, origin }: ModelJob): string | undefined {
  if (state === "ended") return endState(ending);
  if (state === "leased") return "running";
  return state === "waiting" && origin !== undefined ? "dead" : state;
}

function endState(ending: string | undefined): string | undefined {
  return ending === "wait-too-long" ? "failed" : ending;
}

const COUNTS = [
  "added",
  "dispatched",
  "finished",
  "failed",
  "retried",
  "expired",
  "cancelled",
  "dead",
  "dropped",
  "rejected",
] as const satisfies readonly (keyof ModelQueue["counts"])[];

function compareQueue(queue: ModelQueue, stats: QueueStats): void {
  const rule = "stats of a queue";
  const of = queue.name;
  equal(rule, "waiting of", stats.waiting, queue.waiting.size, of);
  equal(rule, "delayed of", stats.delayed, queue.delayed.size, of);
  equal(rule, "running of", stats.running, queue.leased.size, of);
  equal(rule, "kept of", stats.kept, queue.kept.length, of);
  equal(rule, "paused of", stats.paused, queue.config.paused, of);
  equal(rule, "bytes of", stats.bytes, queue.bytes, of);
  equal(rule, "free workers of", stats.freeWorkers, queue.slots, of);
  for (const name of COUNTS) equal(rule, name, stats[name], queue.counts[name], of);
  compareTiers(queue, stats);
}

function compareTiers(queue: ModelQueue, stats: QueueStats): void {
  const tiers = queue.config.tiers.map(() => ({ waiting: 0, leased: 0 }));
  for (const job of queue.waiting) tiers[job.tier]!.waiting += 1;
  for (const job of queue.leased) tiers[job.tier]!.leased += 1;
  const rule = "stats of a tier";
  tiers.forEach((tier, index) => {
    const of = index;
    equal(rule, "waiting of", stats.perTier[index]?.waiting, tier.waiting, of);
    equal(rule, "running of", stats.perTier[index]?.running, tier.leased, of);
  });
}

function compareGate(gate: ModelGate, stats: GateStats, now: number): void {
  const rule = "stats of a gate";
  const of = gate.key;
  const tokens = gate.tokens(now);
  const off = Math.abs((stats.tokens ?? Number.NaN) - (tokens ?? Number.NaN));
  demand(
    stats.tokens === tokens || off <= TOKEN_GRAIN,
    rule,
    () => `tokens of ${of} are ${stats.tokens}, the model says ${tokens}`,
  );
  equal(rule, "in flight of", stats.inFlight, gate.holders.size, of);
  equal(rule, "ladder step of", stats.ladderStep, gate.step, of);
  const until = gate.cooldownUntil > now ? gate.cooldownUntil : undefined;
  const seen = stats.cooldown?.until ?? 0;
  equal(rule, "cooldown of", seen > now ? seen : undefined, until, of);
  equal(rule, "pattern of", stats.pattern, gate.pattern, of);
  (gate.config?.windows ?? []).forEach(({ perMs }, index) => {
    const got = stats.windows[index];
    equal(rule, "used in a window of", got?.used, gate.used(perMs, now), of);
  });
}
