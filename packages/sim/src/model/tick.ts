// Everything that falls due: deadlines, leases, delays, promotions, results.
//
// The rules order what falls due in one tick by its time, and only among things of the same kind.
// Jobs that are promoted at the same time keep their order. Jobs that enter a strand in no
// particular order get the same age.

import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import { hasRoomFor, type ModelQueue } from "./queue.ts";
import { expire, fail, waitAgain } from "./settle.ts";

export function tick(model: Model): void {
  const queues = [...model.queues.values()];
  for (const queue of queues) endPastDeadline(model, queue);
  const leases = queues.flatMap((queue) => leasesOver(model, queue));
  const delays = queues.flatMap((queue) => delaysDue(model, queue));
  const promotions = queues.flatMap((queue) => promotionsDue(model, queue));
  const kinds = [leases, delays, promotions].filter((kind) => kind.length > 0);
  // A follow-up enters when the job ends that it follows: beside other things in no order, too.
  const isMixed = kinds.length > 1 || (kinds.length > 0 && model.awaited.length > 0);
  const age = isMixed ? model.nextAge() : undefined;
  for (const kind of kinds) enterInOrder(model, kind, age);
  for (const follower of model.awaited) follower.age = age;
  for (const queue of queues) forgetResults(model, queue);
}

interface Entering {
  readonly at: number;
  // The order among those of the same time, where there is one.
  readonly place?: number;
  readonly enter: (age: number) => void;
}

function endPastDeadline(model: Model, queue: ModelQueue): void {
  for (const job of [...queue.waiting, ...queue.delayed]) {
    if (job.deadline !== undefined && job.deadline <= model.now) expire(model, job);
  }
}

// A job whose attempts are used up enters its dead letter queue.
function leasesOver(model: Model, queue: ModelQueue): Entering[] {
  return [...queue.leased]
    .filter((job) => job.at <= model.now)
    .map((job) => ({
      at: job.at,
      enter: (age: number) => fail(model, job, false, undefined, age),
    }));
}

function delaysDue(model: Model, queue: ModelQueue): Entering[] {
  const isIn = (job: ModelJob) => (model.eyes.job(job.id)?.state === "delayed" ? 1 : 0);
  // Where only some find room, those that did came first among those of the same time.
  return [...queue.delayed]
    .filter((job) => job.at <= model.now)
    .sort((a, b) => isIn(a) - isIn(b))
    .map((job) => ({ at: job.at, enter: (age) => fallDue(model, queue, job, age) }));
}

function fallDue(model: Model, queue: ModelQueue, job: ModelJob, age: number): void {
  const hasRoom = job.isRetry || hasRoomFor(queue, job);
  if (!hasRoom) {
    job.at = model.now + queue.config.fullRetryMs;
    return;
  }
  model.take(job);
  waitAgain(model, job, age);
}

function promotionsDue(model: Model, queue: ModelQueue): Entering[] {
  const afterMs = queue.config.promoteAfterMs;
  if (afterMs === undefined) return [];
  return [...queue.waiting]
    .filter((job) => job.tier > 0 && job.since + afterMs <= model.now)
    .map((job) => ({
      at: job.since + afterMs,
      place: job.age,
      enter: (age) => {
        model.take(job);
        job.tier -= 1;
        model.wait(job, age);
      },
    }));
}

function enterInOrder(model: Model, entering: Entering[], sharedAge: number | undefined): void {
  entering.sort((a, b) => a.at - b.at || (a.place ?? 0) - (b.place ?? 0));
  let age = sharedAge ?? 0;
  entering.forEach(({ at, place, enter }, index) => {
    const before = entering[index - 1];
    const isLater = before?.at !== at || before.place !== place;
    if (sharedAge === undefined && isLater) age = model.nextAge();
    enter(age);
  });
}

function forgetResults(model: Model, queue: ModelQueue): void {
  for (const job of [...queue.kept]) {
    if (job.at + queue.config.results.ms <= model.now) model.forget(job);
  }
}
