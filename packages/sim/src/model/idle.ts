// How long places of gates idle while a job that needs nothing else and a free worker wait.
//
// A job with several gates may have a place kept for it for a second at a time, and for a second in
// total per such job that was dispatched. Everything between two calls in which nothing was due
// counts; after the engine's own wake-up it is the caller who is late.

import { demand } from "./broken.ts";
import type { ModelGate } from "./gate.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";

const IDLE_MS = 1_000;
const RULE = "i: places do not idle";

interface Book {
  // For how long each free place has idled, the longest first: that one is used next.
  stretches: number[];
  sumMs: number;
  // Jobs with several gates that were dispatched.
  served: number;
  // The job that could use the place now.
  idleFor: ModelJob | undefined;
}

export interface IdleTotals {
  longestMs: number;
  sumMs: number;
}

export class Idle {
  readonly totals: IdleTotals = { longestMs: 0, sumMs: 0 };
  readonly #books = new Map<string, Book>();
  #wakeAt = 0;

  served(job: ModelJob): void {
    for (const key of job.gates) {
      const book = this.#book(key);
      book.stretches.shift();
      if (job.gates.length > 1) book.served += 1;
    }
  }

  // Nothing happens until this time.
  pass(now: number, until: number): void {
    const ms = Math.min(until, this.#wakeAt) - now;
    if (ms <= 0) return;
    for (const [key, book] of this.#books) {
      const { idleFor } = book;
      if (idleFor === undefined) continue;
      book.stretches = book.stretches.map((stretchMs) => stretchMs + ms);
      book.sumMs += ms;
      const stretchMs = book.stretches[0] ?? 0;
      this.totals.longestMs = Math.max(this.totals.longestMs, stretchMs);
      this.totals.sumMs += ms;
      const seen = () => `gate ${key} had a free place from ${now} on, job ${idleFor.id} waited`;
      demand(stretchMs <= IDLE_MS, RULE, () => `${seen()}: idle for ${stretchMs} ms at a time`);
      const most = IDLE_MS * (book.served + 1);
      demand(
        book.sumMs <= most,
        RULE,
        () => `${seen()}: idle for ${book.sumMs} ms in all, ${most} are allowed`,
      );
    }
  }

  // After a call: which places idle from now on?
  look(model: Model, nextWake: number): void {
    this.#wakeAt = nextWake;
    for (const book of this.#books.values()) book.idleFor = undefined;
    if (nextWake <= model.now) return;
    for (const queue of model.queues.values()) {
      if (!queue.isFree) continue;
      for (const oldest of model.heads(queue)) this.#note(model, oldest);
    }
    for (const [key, book] of this.#books) {
      if (book.idleFor === undefined) book.stretches = [];
      else fit(book.stretches, model.gates.get(key));
      // A gate that no job names may be forgotten, and its budget with it.
      if (!isNamed(model, key)) this.#books.delete(key);
    }
  }

  #note(model: Model, oldest: readonly ModelJob[]): void {
    const limits = new Set(oldest.flatMap((head) => model.limits(head)));
    const [key] = limits;
    if (limits.size !== 1 || key === undefined) return;
    if (!isPlace(model.gates.get(key)) || !oldest.every((head) => model.passes(head))) return;
    this.#book(key).idleFor = oldest[0]!;
  }

  #book(key: string): Book {
    let book = this.#books.get(key);
    if (book === undefined) {
      book = { stretches: [], sumMs: 0, served: 0, idleFor: undefined };
      this.#books.set(key, book);
    }
    return book;
  }
}

// A timed permit may be kept for longer, so a gate that has any is not judged.
function isPlace({ config }: ModelGate): boolean {
  if (config?.concurrency === undefined) return false;
  const { rate, interval, windows = [] } = config;
  return rate === undefined && interval === undefined && windows.length === 0;
}

// As many as there are free places; one that was released has not idled yet.
function fit(stretches: number[], { config, holders }: ModelGate): void {
  const free = (config?.concurrency ?? 0) - holders.size;
  while (stretches.length < free) stretches.push(0);
  stretches.length = Math.max(0, free);
}

function isNamed(model: Model, key: string): boolean {
  for (const { waiting, delayed, leased } of model.queues.values()) {
    for (const jobs of [waiting, delayed, leased]) {
      for (const job of jobs) if (job.gates.includes(key)) return true;
    }
  }
  return false;
}
