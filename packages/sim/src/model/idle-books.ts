// For how long the places of gates idle: at a time, and in all.
//
// A job with several gates may have a place kept for it for a second at a time, and for a second in
// total per such job that was dispatched, and one more for the one that waits.

import type { GateConfig } from "@sluice/engine";
import type { GateSettings } from "@sluice/protocol";
import { demand } from "../demand.ts";

const IDLE_MS = 1_000;
const RULE = "i: places do not idle";

interface Book {
  // For how long each free place has idled, the longest first: that one is used next.
  stretches: number[];
  sumMs: number;
  // Jobs with several gates that were dispatched.
  served: number;
  // The job that could use the place now.
  idleFor: string | undefined;
}

export interface IdleTotals {
  longestMs: number;
  sumMs: number;
}

// A gate with this many free places, and a job that needs nothing else while a worker is free.
export interface IdleGate {
  readonly key: string;
  readonly free: number;
  readonly job: string;
}

export class IdleBooks {
  readonly totals: IdleTotals = { longestMs: 0, sumMs: 0 };
  readonly #books = new Map<string, Book>();

  // A job with these gates was dispatched.
  served(gates: readonly string[]): void {
    for (const key of gates) {
      const book = this.#book(key);
      book.stretches.shift();
      if (gates.length > 1) book.served += 1;
    }
  }

  // Nothing happens for this long.
  pass(ms: number): void {
    if (ms <= 0) return;
    for (const [key, book] of this.#books) if (book.idleFor !== undefined) this.#idled(key, ms);
  }

  #idled(key: string, ms: number): void {
    const book = this.#book(key);
    book.stretches = book.stretches.map((stretchMs) => stretchMs + ms);
    book.sumMs += ms;
    const stretchMs = book.stretches[0] ?? 0;
    this.totals.longestMs = Math.max(this.totals.longestMs, stretchMs);
    this.totals.sumMs += ms;
    const seen = () => `gate ${key} has a free place, job ${book.idleFor} waits`;
    demand(stretchMs <= IDLE_MS, RULE, () => `${seen()}: idle for ${stretchMs} ms at a time`);
    const most = IDLE_MS * (book.served + 1);
    demand(
      book.sumMs <= most,
      RULE,
      () => `${seen()}: idle for ${book.sumMs} ms in all, ${most} are allowed`,
    );
  }

  // Which places idle from now on.
  look(idle: readonly IdleGate[], isNamed: (gate: string) => boolean): void {
    for (const book of this.#books.values()) book.idleFor = undefined;
    for (const { key, free, job } of idle) {
      const book = this.#book(key);
      book.idleFor = job;
      // One that was released has not idled yet.
      while (book.stretches.length < free) book.stretches.push(0);
      book.stretches.length = free;
    }
    for (const [key, book] of this.#books) {
      if (book.idleFor === undefined) book.stretches = [];
      // A gate that no job names may be forgotten, and its budget with it.
      if (!isNamed(key)) this.#books.delete(key);
    }
  }

  // It is not known what idles: the engine has work to do first.
  stop(): void {
    for (const book of this.#books.values()) book.idleFor = undefined;
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
export function isPlace(config: GateConfig | GateSettings | undefined): boolean {
  if (config?.concurrency === undefined) return false;
  const { rate, interval, windows = [] } = config;
  return rate === undefined && interval === undefined && windows.length === 0;
}
