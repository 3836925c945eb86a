// Everything that falls due: deadlines, leases, delays, promotions, results.
//
// Two things that fall due in the same tick have no order unless their times differ; jobs that
// enter a flow so get the same age.

import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import { type ModelQueue, tierWithRoom } from "./queue.ts";
import { expire, fail } from "./settle.ts";

export function tick(model: Model): void {
  const queues = [...model.queues.values()];
  for (const queue of queues) endPastDeadline(model, queue);
  for (const queue of queues) endLeases(model, queue);
  const entering: Entering[] = queues.flatMap((queue) => [
    ...delaysDue(model, queue),
    ...promotionsDue(model, queue),
  ]);
  enterInOrder(model, entering);
  for (const queue of queues) forgetResults(model, queue);
}

interface Entering {
  readonly at: number;
  readonly enter: (age: number) => void;
}

function endPastDeadline(model: Model, queue: ModelQueue): void {
  for (const job of [...queue.waiting, ...queue.delayed]) {
    if (job.deadline !== undefined && job.deadline <= model.now) expire(model, job);
  }
}

function endLeases(model: Model, queue: ModelQueue): void {
  for (const job of byTime([...queue.leased])) {
    if (job.at > model.now) break;
    fail(model, job, false);
  }
}

function delaysDue(model: Model, queue: ModelQueue): Entering[] {
  return [...queue.delayed]
    .filter((job) => job.at <= model.now)
    .map((job) => ({ at: job.at, enter: (age) => fallDue(model, queue, job, age) }));
}

function fallDue(model: Model, queue: ModelQueue, job: ModelJob, age: number): void {
  const tier = job.isRetry ? job.tier : tierWithRoom(queue, job, queue.config.onFull === "spill");
  if (tier === undefined) {
    job.at = model.now + queue.config.fullRetryMs;
    return;
  }
  model.take(job);
  job.tier = tier;
  model.wait(job, age);
}

function promotionsDue(model: Model, queue: ModelQueue): Entering[] {
  const afterMs = queue.config.promoteAfterMs;
  if (afterMs === undefined) return [];
  return [...queue.waiting]
    .filter((job) => job.tier > 0 && job.since + afterMs <= model.now)
    .map((job) => ({
      at: job.since + afterMs,
      enter: (age) => {
        model.take(job);
        job.tier -= 1;
        model.wait(job, age);
      },
    }));
}

function enterInOrder(model: Model, entering: Entering[]): void {
  entering.sort((a, b) => a.at - b.at);
  let age = 0;
  entering.forEach(({ at, enter }, index) => {
    if (index === 0 || entering[index - 1]!.at !== at) age = model.nextAge();
    enter(age);
  });
}

function forgetResults(model: Model, queue: ModelQueue): void {
  for (const job of [...queue.kept]) {
    if (job.at + queue.config.results.ms <= model.now) model.forget(job);
  }
}

function byTime(jobs: ModelJob[]): ModelJob[] {
  return jobs.sort((a, b) => a.at - b.at);
}
