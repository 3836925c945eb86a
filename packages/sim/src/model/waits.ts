// maxWait: a job whose gates open too late fails at once: at its add, when it is due after a delay,
// or when a gate changes.

import { demand } from "../demand.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";

// Follows the engine where it ended a job for waiting too long, and checks that it had cause.
export function adoptTooLong(model: Model): void {
  for (const job of endedByEngine(model)) {
    const wait = model.patience(job).at - model.now;
    demand(
      wait > job.maxWaitMs!,
      "maxWait",
      () => `job ${job.id} failed though its gates open in ${wait} ms, it waits ${job.maxWaitMs}`,
    );
    giveUp(model, job);
  }
}

// Between two leases of a call: those that have cause by now and are gone after the call.
export function adoptTooLongSoFar(model: Model): void {
  for (const job of endedByEngine(model)) {
    if (model.patience(job).at - model.now > job.maxWaitMs!) giveUp(model, job);
  }
}

function endedByEngine(model: Model): ModelJob[] {
  return patient(model).filter((job) => {
    const view = model.eyes.job(job.id);
    return view === undefined || view.waited !== undefined;
  });
}

function giveUp(model: Model, job: ModelJob): void {
  const queue = model.queueOf(job);
  model.end(job, "wait-too-long");
  queue.counts.failed += 1;
}

// After a call that changed a gate, once nothing is left to do.
export function judgeTooLong(model: Model, gate: string): void {
  for (const job of patient(model)) {
    if (!job.gates.includes(gate)) continue;
    const wait = model.patience(job).atLeast - model.now;
    demand(
      wait <= job.maxWaitMs!,
      "maxWait",
      () => `gate ${gate} changed: job ${job.id} would wait ${wait} ms, more than ${job.maxWaitMs}`,
    );
  }
}

function patient(model: Model): ModelJob[] {
  const jobs: ModelJob[] = [];
  for (const queue of model.queues.values()) {
    for (const job of queue.waiting) if (job.maxWaitMs !== undefined) jobs.push(job);
  }
  return jobs;
}
