import type { Core } from "../core.ts";
import { LEASED_JOB, TIME, WORKER } from "../jobs/job-fields.ts";
import type { QueueState, WorkerState } from "./queue-state.ts";

/**
 * Workers are known by name while they would take jobs or hold some. One that does neither is
 * forgotten: names may be made up anew with every process that connects.
 */

/** The worker known by this name, made when it is not: a lease may outlive its worker. */
export function workerOf(
  core: Core,
  queue: QueueState,
  name: string,
  inProcess: boolean,
): WorkerState {
  return namesOf(queue, inProcess).get(name) ?? makeWorker(core, queue, name, inProcess);
}

export function namesOf(queue: QueueState, inProcess: boolean): Map<string, WorkerState> {
  return inProcess ? queue.workersInProcess : queue.workers;
}

export function allWorkers(queue: QueueState): WorkerState[] {
  return [...queue.workers.values(), ...queue.workersInProcess.values()];
}

function makeWorker(core: Core, queue: QueueState, name: string, inProcess: boolean): WorkerState {
  const index = core.freeWorkers.pop() ?? core.workers.length;
  const worker = { name, index, slots: 0, leased: 0, leaseMs: 0, inProcess, isGone: false };
  core.workers[index] = worker;
  namesOf(queue, inProcess).set(name, worker);
  return worker;
}

/** A worker without leases that would take nothing is forgotten. */
export function forgetIdle(core: Core, queue: QueueState, worker: WorkerState): void {
  if (worker.slots !== 0 || worker.leased !== 0) return;
  const names = namesOf(queue, worker.inProcess);
  // The name of one that is gone may be another's by now.
  if (names.get(worker.name) === worker) names.delete(worker.name);
  core.workers[worker.index] = undefined;
  core.freeWorkers.push(worker.index);
}

/**
 * The process that told the facts has ended, and its own workers with it: their leases run out now.
 * Those of workers elsewhere last as long as they were given, because they may still be acked.
 */
export function endInProcess(core: Core, now: number): void {
  const { jobs, timers } = core;
  let isHeld = false;
  for (const queue of core.byName.values()) {
    for (const worker of queue.workersInProcess.values()) {
      worker.isGone = true;
      isHeld = true;
    }
    queue.workersInProcess.clear();
  }
  if (!isHeld) return;
  for (let row = 1; row < jobs.end; row++) {
    if (jobs.state(row) !== LEASED_JOB || jobs.num(row, TIME) <= now) continue;
    if (core.workers[jobs.int(row, WORKER)]?.isGone !== true) continue;
    jobs.setNum(row, TIME, now);
    timers.move(row, now);
  }
}
