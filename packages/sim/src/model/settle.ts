// What becomes of a lease: ack, nack, give back, extend, expiry; and cancel.

import type { NackOptions } from "@sluice/engine";
import { demand, equal } from "../demand.ts";
import type { CallOf } from "./call.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import { isRefused, type Outcome } from "./outcome.ts";

// The leased job that the call names, when it names the current lease.
function leasedJob(
  model: Model,
  id: number,
  lease: number,
  outcome: Outcome<unknown>,
): ModelJob | undefined {
  const job = model.jobs.get(id);
  let codes: string[] = [];
  if (!model.issued.has(id)) codes = ["JOB_NOT_FOUND"];
  else if (job === undefined || job.state === "ended") codes = ["ALREADY_FINISHED"];
  else if (job.state !== "leased" || job.lease !== lease) codes = ["LEASE_LOST"];
  return isRefused(outcome, codes) ? undefined : job;
}

export function ack(
  model: Model,
  id: number,
  lease: number,
  result: unknown,
  outcome: Outcome<void>,
): void {
  const job = leasedJob(model, id, lease, outcome);
  if (job === undefined) return;
  const queue = model.queueOf(job);
  job.result = result;
  model.end(job, "finished");
  queue.counts.finished += 1;
  for (const key of job.gates) model.gates.get(key).report(true, model.now);
}

export function giveBack(model: Model, id: number, lease: number, outcome: Outcome<void>): void {
  const job = leasedJob(model, id, lease, outcome);
  if (job === undefined) return;
  model.take(job);
  if (isPastDeadline(model, job)) expire(model, job);
  else model.wait(job, job.age);
}

export function extend(
  model: Model,
  id: number,
  lease: number,
  ms: number,
  outcome: Outcome<number>,
): void {
  const job = leasedJob(model, id, lease, outcome);
  if (job === undefined) return;
  job.at = model.now + ms;
  if (outcome.ok) equal("answer", "new expiry", outcome.value, job.at);
}

export function cancel(model: Model, id: number, outcome: Outcome<boolean>): void {
  const isUnknown = !model.issued.has(id);
  if (isRefused(outcome, isUnknown ? ["JOB_NOT_FOUND"] : []) || !outcome.ok) return;
  const job = model.jobs.get(id);
  const isLive = job !== undefined && job.state !== "ended";
  equal("answer", `cancel of job ${id}`, outcome.value, isLive);
  if (isLive) cancelJob(model, job);
}

export function cancelByKey(
  model: Model,
  { queue: queueName, key }: CallOf<"cancelByKey">,
  outcome: Outcome<boolean>,
): void {
  const queue = model.queues.get(queueName);
  const codes = queue === undefined ? ["QUEUE_NOT_FOUND"] : [];
  if (isRefused(outcome, codes) || !outcome.ok) return;
  const holder = queue!.keys.get(key);
  const isHeld = holder !== undefined && model.now < (holder.until ?? Infinity);
  const job = isHeld ? model.jobs.get(holder.id) : undefined;
  const isLive = job !== undefined && job.state !== "ended";
  equal("answer", `cancel by key ${key}`, outcome.value, isLive);
  if (isLive) cancelJob(model, job);
}

export function cancelJob(model: Model, job: ModelJob): void {
  const queue = model.queueOf(job);
  model.end(job, "cancelled");
  queue.counts.cancelled += 1;
}

export function nack(
  model: Model,
  id: number,
  lease: number,
  options: NackOptions,
  outcome: Outcome<void>,
): void {
  const job = leasedJob(model, id, lease, outcome);
  if (job === undefined) return;
  if (job.origin === undefined) job.error = options.error ?? job.error;
  // With a cooldown, no gate is blamed unless `blame` names it.
  const usual = options.cooldown === undefined ? job.gates : [];
  const blamed = options.blame === false ? [] : (options.blame ?? usual);
  for (const key of blamed) model.gates.get(key).report(false, model.now);
  if (options.cooldown === undefined) {
    fail(model, job, options.unrecoverable ?? false, options.delayMs);
    return;
  }
  const { gate, ms, reason } = options.cooldown;
  model.gates.get(gate).coolDown(model.now + ms, reason ?? "");
  model.take(job);
  job.isRetry = true;
  if (isPastDeadline(model, job)) {
    expire(model, job);
    return;
  }
  if (job.origin === undefined && hasNoDeliveryLeft(model, job)) {
    die(model, job);
    return;
  }
  model.queueOf(job).counts.retried += 1;
  if (job.gates.includes(gate) || ms === 0) waitAgain(model, job);
  else model.delay(job, model.now + ms);
}

// A failed delivery: a retry, or the end.
export function fail(
  model: Model,
  job: ModelJob,
  isFinal: boolean,
  delayMs?: number,
  age?: number,
): void {
  const queue = model.queueOf(job);
  model.take(job);
  if (isPastDeadline(model, job)) {
    expire(model, job);
    return;
  }
  const isOver = isFinal || job.attempt + 1 >= job.attempts || hasNoDeliveryLeft(model, job);
  if (isOver && job.origin === undefined) {
    die(model, job, age);
    return;
  }
  job.attempt += 1;
  job.isRetry = true;
  queue.counts.retried += 1;
  if (delayMs === 0) waitAgain(model, job);
  else model.delay(job, delayMs === undefined ? backoffAt(model, job) : model.now + delayMs);
}

function hasNoDeliveryLeft(model: Model, job: ModelJob): boolean {
  return job.lease - job.leasesBefore >= model.queueOf(job).config.retry.deliveries;
}

// A dead letter goes back to its place, any other job to the back of its strand.
export function waitAgain(model: Model, job: ModelJob, age?: number): void {
  model.wait(job, job.origin === undefined ? age : job.age);
}

// The engine draws the jitter; the model checks that it is within its bounds.
function backoffAt(model: Model, job: ModelJob): number {
  const own = job.origin === undefined ? job.backoff : undefined;
  const { minMs, maxMs, factor, jitter } = { ...model.queueOf(job).config.retry, ...own };
  const most = Math.min(maxMs, minMs * factor ** (job.attempt - 1));
  const least = most * (1 - jitter);
  const at = model.eyes.job(job.id)?.at ?? Number.NaN;
  const ms = at - model.now;
  demand(
    ms >= Math.floor(least) && ms <= Math.ceil(most),
    "backoff",
    () => `job ${job.id} is put off by ${ms} ms, not by ${least} to ${most}`,
  );
  return at;
}

function isPastDeadline(model: Model, job: ModelJob): boolean {
  return job.deadline !== undefined && model.now >= job.deadline;
}

export function expire(model: Model, job: ModelJob): void {
  const queue = model.queueOf(job);
  model.end(job, "expired");
  queue.counts.expired += 1;
}

// Attempts used up: to the dead letter queue with its id, or failed when there is none.
function die(model: Model, job: ModelJob, age?: number): void {
  const queue = model.queueOf(job);
  const { dlq } = queue.config;
  if (dlq === false) {
    model.end(job, "failed");
    queue.counts.failed += 1;
    return;
  }
  model.giveUpKey(job);
  model.endMember(job, "dead");
  queue.counts.dead += 1;
  const letters = model.queues.get(dlq) ?? model.makeQueue(dlq, model.eyes.queueConfig(dlq));
  letters.isForDeadLetters = true;
  job.home = { tier: job.tier, gates: job.gates };
  job.origin = queue.name;
  job.queue = letters.name;
  job.tier = 0;
  job.gates = [];
  const { retentionMs } = letters.config;
  job.deadline = retentionMs === undefined ? undefined : model.now + retentionMs;
  job.dedupe = undefined;
  job.isRetry = true;
  job.attempt = 0;
  model.wait(job, age);
  if (job.followUp !== undefined) model.awaited.push({ queue: queue.name, job });
}
