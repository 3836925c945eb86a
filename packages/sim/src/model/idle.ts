// How long places of gates idle in the model while a job that needs nothing else and a free worker
// wait. Everything between two calls in which nothing was due counts; after the engine's own
// wake-up it is the caller who is late.

import type { Gates } from "./gates.ts";
import { IdleBooks, type IdleGate, type IdleTotals, isPlace } from "./idle-books.ts";
import type { ModelJob } from "./job.ts";
import type { ModelQueue } from "./queue.ts";

// What is asked of the model.
export interface IdleWorld {
  readonly now: number;
  readonly queues: ReadonlyMap<string, ModelQueue>;
  readonly gates: Gates;
  heads(queue: ModelQueue): ModelJob[][];
  limits(job: ModelJob): readonly string[];
  passes(job: ModelJob): boolean;
}

export class Idle {
  readonly #books = new IdleBooks();
  #wakeAt = 0;

  get totals(): IdleTotals {
    return this.#books.totals;
  }

  served({ gates }: ModelJob): void {
    this.#books.served(gates);
  }

  // Nothing happens until this time.
  pass(now: number, until: number): void {
    this.#books.pass(Math.min(until, this.#wakeAt) - now);
  }

  // After a call: which places idle from now on?
  look(model: IdleWorld, nextWake: number): void {
    this.#wakeAt = nextWake;
    if (nextWake <= model.now) return this.#books.stop();
    const idle: IdleGate[] = [];
    for (const queue of model.queues.values()) {
      if (!queue.isFree) continue;
      for (const oldest of model.heads(queue)) {
        const gate = idleGate(model, oldest);
        if (gate !== undefined) idle.push(gate);
      }
    }
    this.#books.look(idle, (key) => isNamed(model, key));
  }
}

function idleGate(model: IdleWorld, oldest: readonly ModelJob[]): IdleGate | undefined {
  const limits = new Set(oldest.flatMap((head) => model.limits(head)));
  const [key] = limits;
  if (limits.size !== 1 || key === undefined) return undefined;
  const { config, holders } = model.gates.get(key);
  if (!isPlace(config) || !oldest.every((head) => model.passes(head))) return undefined;
  return { key, free: (config?.concurrency ?? 0) - holders.size, job: `${oldest[0]!.id}` };
}

function isNamed(model: IdleWorld, key: string): boolean {
  for (const { waiting, delayed, leased } of model.queues.values()) {
    for (const jobs of [waiting, delayed, leased]) {
      for (const job of jobs) if (job.gates.includes(key)) return true;
    }
  }
  return false;
}
