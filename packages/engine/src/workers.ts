import type { Core } from "./core.ts";
import type { Queue, Worker } from "./queue.ts";

/**
 * Workers are known by name while they would take jobs or hold some. One that does neither is
 * forgotten: names may be made up anew with every process that connects.
 */

/** The worker known by this name, made when it is not: a lease may outlive its worker. */
export function workerOf(core: Core, queue: Queue, name: string): Worker {
  return queue.workers.get(name) ?? makeWorker(core, queue, name);
}

function makeWorker(core: Core, queue: Queue, name: string): Worker {
  const index = core.freeWorkers.pop() ?? core.workers.length;
  const worker = { name, index, slots: 0, leased: 0, leaseMs: 0 };
  core.workers[index] = worker;
  queue.workers.set(name, worker);
  return worker;
}

/** A worker without leases that would take nothing is forgotten. */
export function forgetIdle(core: Core, queue: Queue, worker: Worker): void {
  if (worker.slots !== 0 || worker.leased !== 0) return;
  queue.workers.delete(worker.name);
  core.workers[worker.index] = undefined;
  core.freeWorkers.push(worker.index);
}
