import type { Engine } from "@sluice/engine";
import type { Clock, Timer } from "@sluice/protocol";
import { GROUP_HELD_MS } from "./limits.ts";

/**
 * Releases groups whose members were to come with several calls when no such call has come for a
 * while: whoever waits for the end of a group must not wait for one who is gone. One timer serves
 * all of them.
 */
export class HeldGroups {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #wake: () => void;
  /** When each is over, the next one first. */
  readonly #until = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(engine: Engine, clock: Clock, wake: () => void) {
    this.#engine = engine;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** They were held now, or again. */
  hold(names: Iterable<string>): void {
    const until = this.#clock.now() + GROUP_HELD_MS;
    for (const name of names) {
      this.#until.delete(name);
      this.#until.set(name, until);
    }
    this.#setTimer();
  }

  release(names: Iterable<string>): void {
    for (const name of names) {
      this.#until.delete(name);
      this.#engine.releaseGroup(name, this.#clock.now());
    }
    this.#wake();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#until.clear();
  }

  #setTimer(): void {
    const [next] = this.#until.values();
    if (next === undefined || this.#timer !== undefined) return;
    this.#timer = this.#clock.at(next, () => {
      this.#timer = undefined;
      const now = this.#clock.now();
      this.release([...this.#until].filter(([, until]) => until <= now).map(([name]) => name));
      this.#setTimer();
    });
    this.#timer.unref?.();
  }
}
