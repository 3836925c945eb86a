// What operators do: queues, workers, gates, purges, retries by hand and redrives.

import { queueConfig } from "@sluice/engine/testing";
import { equal } from "../demand.ts";
import type { CallOf, Op } from "./call.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import { isRefused, type Outcome } from "./outcome.ts";
import { hasRoomFor, type ModelQueue, tierWithRoom } from "./queue.ts";
import { cancelJob, expire } from "./settle.ts";

// Why a gate cools down in these worlds.
export const REASON = "world";

function knownQueue(model: Model, name: string, outcome: Outcome<unknown>): ModelQueue | undefined {
  const queue = model.queues.get(name);
  isRefused(outcome, queue === undefined ? ["QUEUE_NOT_FOUND"] : []);
  return queue;
}

// What a call means for the model, whatever became of it at the engine.
type Judge<O extends Op, T = void> = (model: Model, call: CallOf<O>, outcome: Outcome<T>) => void;

export const setQueue: Judge<"setQueue"> = (model, { queue: name, options }, outcome) => {
  isRefused(outcome, []);
  const config = queueConfig(name, options);
  const queue = model.queues.get(name);
  if (queue === undefined) model.makeQueue(name, config);
  else queue.config = config;
};

export const deleteQueue: Judge<"deleteQueue"> = (model, { queue: name }, outcome) => {
  const queue = knownQueue(model, name, outcome);
  if (queue === undefined) return;
  const jobs = [...queue.waiting, ...queue.delayed, ...queue.leased, ...queue.kept];
  for (const job of jobs) {
    model.forget(job);
    // The rules do not say how a member ends whose queue is gone.
    if (job.group !== undefined) model.groups.delete(job.group);
  }
  model.queues.delete(name);
};

export const setPaused: Judge<"pause" | "resume"> = (model, { queue: name, op }, outcome) => {
  const queue = knownQueue(model, name, outcome);
  if (queue !== undefined) queue.config = { ...queue.config, paused: op === "pause" };
};

export const purge: Judge<"purge"> = (model, { queue: name }, outcome) => {
  const queue = knownQueue(model, name, outcome);
  if (queue === undefined) return;
  for (const job of [...queue.waiting, ...queue.delayed]) {
    if (job.deadline !== undefined && job.deadline <= model.now) expire(model, job);
    else cancelJob(model, job);
  }
};

export const want: Judge<"want"> = (model, { queue: name, worker, slots }, outcome) => {
  const queue = knownQueue(model, name, outcome);
  if (queue === undefined) return;
  if (slots === 0) queue.workers.delete(worker);
  else queue.workers.set(worker, slots);
};

export const setLaneWeight: Judge<"setLaneWeight"> = (model, { queue, key, weight }, outcome) => {
  const path = typeof key === "string" ? [key] : key;
  knownQueue(model, queue, outcome)?.order?.setWeight(path, weight);
};

export const setGate: Judge<"setGate"> = (model, { gate, config }, outcome) => {
  isRefused(outcome, []);
  model.gates.set(gate, config, model.now);
};

// The rules say that a change of limits keeps the level. They do not say whether a bucket that was
// full is "full" or "at its old burst".
export function adoptLevels(model: Model): void {
  for (const gate of model.gates.all()) {
    const level = gate.tokens(model.now);
    const seen = model.eyes.gateStats(gate.key, model.now).tokens;
    if (level === undefined || seen === undefined || seen <= level) continue;
    gate.fillWhenItWasFull();
  }
}

export const deleteGate: Judge<"deleteGate"> = (model, { gate }, outcome) => {
  if (model.gates.configs.has(gate)) isRefused(outcome, []);
  if (outcome.ok) model.gates.delete(gate, model.now);
};

export const cooldown: Judge<"cooldown"> = (model, { gate, ms }, outcome) => {
  isRefused(outcome, []);
  model.gates.get(gate).coolDown(model.now + ms, REASON);
};

export const clearCooldown: Judge<"clearCooldown"> = (model, call, outcome) => {
  const gate = model.gates.get(call.gate);
  if (gate.config !== undefined || gate.cooldownUntil > model.now) isRefused(outcome, []);
  gate.clear();
};

export const report: Judge<"report"> = (model, call, outcome) => {
  const gate = model.gates.get(call.gate);
  if (gate.config !== undefined) isRefused(outcome, []);
  gate.report(call.ok, model.now);
};

// An ended job that is still kept runs again, from the first attempt.
export function retry(model: Model, id: number, outcome: Outcome<void>): void {
  const job = model.jobs.get(id);
  if (!model.issued.has(id)) isRefused(outcome, ["JOB_NOT_FOUND"]);
  else if (job === undefined) isRefused(outcome, ["JOB_NOT_FOUND", "ALREADY_FINISHED"]);
  else if (job.origin !== undefined) retryLetter(model, job, outcome);
  else if (job.state === "delayed") hasten(model, job, outcome);
  else if (job.state !== "ended") isRefused(outcome, ["CONFLICT"]);
  else if (!isRefused(outcome, isFullFor(model, job) ? ["QUEUE_FULL"] : [])) runAgain(model, job);
}

// A letter returns to its origin, also one that has ended and is still kept.
function retryLetter(model: Model, job: ModelJob, outcome: Outcome<void>): void {
  if (job.state === "leased") isRefused(outcome, ["CONFLICT"]);
  else if (!model.queues.has(job.origin!)) isRefused(outcome, ["QUEUE_NOT_FOUND"]);
  else if (!isRefused(outcome, [])) goHome(model, job, model.nextAge());
}

// It must find room like a job that is added, but in the tier it had: it does not spill.
function isFullFor(model: Model, job: ModelJob): boolean {
  return tierWithRoom(model.queueOf(job), job, false) === undefined;
}

// A delayed job need not wait any longer, if there is room for it.
function hasten(model: Model, job: ModelJob, outcome: Outcome<void>): void {
  const hasRoom = job.isRetry || hasRoomFor(model.queueOf(job), job);
  if (isRefused(outcome, hasRoom ? [] : ["QUEUE_FULL"])) return;
  model.take(job);
  model.wait(job);
}

function runAgain(model: Model, job: ModelJob): void {
  const queue = model.queueOf(job);
  queue.kept.splice(queue.kept.indexOf(job), 1);
  job.ending = undefined;
  job.attempt = 0;
  job.isRetry = true;
  job.dedupe = undefined;
  job.leasesBefore = job.lease;
  // The rules do not say whether it keeps its deadline.
  job.deadline = model.eyes.job(job.id)?.deadline;
  model.wait(job);
}

export const redrive: Judge<"redrive", number> = (model, { queue: name, count }, outcome) => {
  const queue = model.queues.get(name);
  const isNamed = [...model.queues.values()].some((other) => other.config.dlq === name);
  const jobs = queue === undefined ? [] : [...queue.waiting, ...queue.delayed];
  const letters = jobs.filter((job) => job.origin !== undefined);
  let codes: string[] = [];
  if (queue === undefined) codes = ["QUEUE_NOT_FOUND"];
  else if (!queue.isForDeadLetters && !isNamed && letters.length === 0) codes = ["NOT_A_DLQ"];
  if (isRefused(outcome, codes) || !outcome.ok) return;
  const movable = letters.filter((job) => model.queues.has(job.origin!));
  const moved = movable.filter((job) => model.eyes.job(job.id)?.queue !== name);
  equal("answer", `redrive of ${name}`, outcome.value, moved.length);
  equal("redrive", "jobs moved", moved.length, Math.min(count ?? Infinity, movable.length));
  // The rules do not say in which order they return.
  const age = model.nextAge();
  for (const job of moved) goHome(model, job, age);
};

function goHome(model: Model, job: ModelJob, age: number): void {
  if (job.state === "ended") {
    const { kept } = model.queueOf(job);
    kept.splice(kept.indexOf(job), 1);
    job.ending = undefined;
  } else model.take(job);
  job.queue = job.origin!;
  model.queues.get(job.queue)!.counts.redriven++;
  job.tier = job.home!.tier;
  job.gates = job.home!.gates;
  job.origin = undefined;
  job.home = undefined;
  job.attempt = 0;
  job.deadline = undefined;
  job.leasesBefore = job.lease;
  job.isRetry = true;
  model.wait(job, age);
}
