// The clock that the broker reads. It runs with the true time until a fault makes it jump ahead,
// step back or stand still.

import type { Agenda } from "./agenda.ts";

export class Clock {
  readonly #agenda: Agenda;
  #offset: number;
  #frozenAt: number | undefined = undefined;

  constructor(agenda: Agenda, startAt: number) {
    this.#agenda = agenda;
    this.#offset = startAt;
  }

  read(): number {
    return this.#frozenAt ?? this.#agenda.now + this.#offset;
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  // How long until the clock shows a time; a clock that stands still never does.
  msUntil(time: number): number {
    return this.isFrozen ? Infinity : Math.max(0, time - this.read());
  }

  step(ms: number): void {
    if (!this.isFrozen) this.#offset += ms;
  }

  freeze(): void {
    this.#frozenAt = this.read();
  }

  // It goes on from where it stood.
  thaw(): void {
    if (this.#frozenAt === undefined) return;
    this.#offset = this.#frozenAt - this.#agenda.now;
    this.#frozenAt = undefined;
  }

  // The clock is right again, and not behind a time that it has shown.
  heal(shown: number): void {
    this.thaw();
    this.step(Math.max(0, shown - this.read()));
  }
}
