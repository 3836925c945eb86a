// The log of a simulated broker: what is synced stays, of what is not a crash keeps some prefix.
//
// One sync is in flight at a time and covers what was written when it began; what comes meanwhile
// gathers for the next one. Whoever waits for a position is released when a sync has covered it.

import type { Fact } from "@sluice/engine";
import type { Agenda } from "../time/agenda.ts";
import type { Random } from "../worlds/random.ts";

interface Waiter {
  readonly position: number;
  readonly release: () => void;
}

export class Disk {
  // The fact at index i has the position `trimmed + i`.
  facts: Fact[] = [];
  trimmed = 0;
  synced = 0;
  // A sync takes from the first to the second, in milliseconds.
  latencyMs: readonly [number, number] = [1, 4];
  readonly #agenda: Agenda;
  readonly #random: Random;
  // Facts are copied as a real log would, so that nobody changes what was written.
  readonly #isCopying: boolean;
  #waiters: Waiter[] = [];
  #isSyncing = false;
  #onWrite: (() => void) | undefined = undefined;
  // Rises with every crash: a sync that was in flight then never ends.
  #life = 0;

  constructor(agenda: Agenda, random: Random, isCopying: boolean) {
    this.#agenda = agenda;
    this.#random = random;
    this.#isCopying = isCopying;
  }

  get end(): number {
    return this.trimmed + this.facts.length;
  }

  append(fact: Fact): void {
    this.facts.push(this.#isCopying ? structuredClone(fact) : fact);
    this.#sync();
    this.#onWrite?.();
    this.#onWrite = undefined;
  }

  // Calls back when something is written that may not be synced yet.
  whenWritten(act: () => void): void {
    this.#onWrite = act;
  }

  // Calls back when everything written so far is synced.
  whenSynced(release: () => void): void {
    this.#waiters.push({ position: this.end, release });
    this.#sync();
  }

  #sync(): void {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    const life = this.#life;
    const [least, most] = this.latencyMs;
    // What is written in the same instant goes into the same sync.
    this.#agenda.in(0, () => {
      const upTo = this.end;
      const tookMs = this.#random.between(least, most);
      this.#agenda.in(tookMs, () => {
        if (life === this.#life) this.#synced(upTo);
      });
    });
  }

  #synced(upTo: number): void {
    this.synced = Math.max(this.synced, upTo);
    this.#isSyncing = false;
    const ready = this.#waiters.filter(({ position }) => position <= this.synced);
    this.#waiters = this.#waiters.filter(({ position }) => position > this.synced);
    if (this.#waiters.length > 0 || this.end > this.synced) this.#sync();
    for (const { release } of ready) release();
  }

  // Loses a random part of what is not synced; answers how many facts are gone.
  crash(): number {
    const unsynced = this.end - this.synced;
    const kept = this.#random.chance(0.3) ? 0 : this.#random.between(0, unsynced);
    const lost = unsynced - kept;
    this.facts.length -= lost;
    this.synced = this.end;
    this.#waiters = [];
    this.#isSyncing = false;
    this.#life++;
    return lost;
  }

  // Forgets what a snapshot holds.
  trim(position: number): void {
    this.facts = this.facts.slice(position - this.trimmed);
    this.trimmed = position;
  }
}
