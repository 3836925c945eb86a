// When the engine says that it has nothing to do now, it must have nothing to do, and it must
// announce the time at which it will have.
//
// Asked after every call: a call that makes a job dispatchable and leaves `nextWake` in the future
// has lost a wake-up.

import { Broken, demand } from "../demand.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import type { ModelQueue } from "./queue.ts";

export function judgeQuiet(model: Model, nextWake: number): void {
  if (nextWake <= model.now) return;
  for (const queue of model.queues.values()) judgeTimers(queue, nextWake);
  const heads = freeHeads(model);
  for (const head of heads) {
    demand(
      model.limits(head).length > 0,
      "f: no job is left behind",
      () => `job ${head.id} has no gate, queue ${head.queue} has a free worker, nothing is due`,
    );
  }
  for (const group of connected(model, heads)) judgeGroup(model, group, nextWake);
}

function freeHeads(model: Model): ModelJob[] {
  const heads: ModelJob[] = [];
  for (const queue of model.queues.values()) {
    if (queue.isFree && queue.waiting.size > 0) heads.push(...model.heads(queue).flat());
  }
  return heads;
}

function judgeTimers(queue: ModelQueue, nextWake: number): void {
  const { promoteAfterMs, results } = queue.config;
  for (const job of queue.delayed) {
    announced(nextWake, job.at, "falls due", job);
    announced(nextWake, job.deadline, "deadline", job);
  }
  for (const job of queue.leased) announced(nextWake, job.at, "lease runs out", job);
  const oldest = queue.kept[0];
  if (oldest !== undefined) announced(nextWake, oldest.at + results.ms, "is forgotten", oldest);
  for (const job of queue.waiting) {
    announced(nextWake, job.deadline, "deadline", job);
    if (promoteAfterMs === undefined || job.tier === 0) continue;
    announced(nextWake, job.since + promoteAfterMs, "is promoted", job);
  }
}

function announced(nextWake: number, at: number | undefined, what: string, job: ModelJob): void {
  if (at === undefined || nextWake <= at) return;
  throw new Broken(
    "f: every wake-up is announced",
    `job ${job.id}: ${what} at ${at}, the engine wakes at ${nextWake}`,
  );
}

// Heads that have to do with one another because they wait at the same gates, over any number of
// steps. With one gate each, only the most urgent tier is first in line.
interface HeadGroup {
  readonly gates: Set<string>;
  heads: ModelJob[];
}

function connected(model: Model, heads: readonly ModelJob[]): HeadGroup[] {
  let groups: HeadGroup[] = [];
  for (const head of heads) {
    const limits = model.limits(head);
    const merged: HeadGroup = { gates: new Set(limits), heads: [head] };
    const apart: HeadGroup[] = [];
    for (const group of groups) {
      if (!limits.some((gate) => group.gates.has(gate))) {
        apart.push(group);
        continue;
      }
      for (const gate of group.gates) merged.gates.add(gate);
      merged.heads.push(...group.heads);
    }
    groups = [...apart, merged];
  }
  return groups;
}

// The head that is first in line passes at the latest when every one of these heads could pass.
function judgeGroup(model: Model, group: HeadGroup, nextWake: number): void {
  const firsts = group.gates.size === 1 ? mostUrgent(group.heads) : group.heads;
  const lacks = firsts.map((head) => model.lack(head));
  if (lacks.some((lack) => lack.release)) return;
  const at = Math.max(...lacks.map((lack) => lack.at));
  const ids = () => firsts.map((head) => head.id).join(", ");
  const gates = () => [...group.gates].join(", ");
  demand(
    at > model.now,
    "f: no job is left behind",
    () => `jobs ${ids()} pass at gates ${gates()}, workers are free, nothing is due`,
  );
  demand(
    nextWake <= at,
    "f: every wake-up is announced",
    () => `jobs ${ids()} pass gates ${gates()} at ${at}, the engine wakes at ${nextWake}`,
  );
}

function mostUrgent(heads: readonly ModelJob[]): ModelJob[] {
  const tier = Math.min(...heads.map((head) => head.tier));
  return heads.filter((head) => head.tier === tier);
}
