import type { Engine } from "@sluice/engine";
import type { Clock, Timer } from "@sluice/protocol";
import { GROUP_HELD_MS } from "./limits.ts";

/**
 * Groups that must not end yet, because not all of their members are there: others come with
 * another call, or wait for room in their queue.
 *
 * If no other call arrives for a while, the group is released: callers that wait for its end must
 * not wait for a client that is gone. One timer serves all groups.
 */
export class HeldGroups {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #wake: () => void;
  /** When each is over, the next one first. */
  readonly #until = new Map<string, number>();
  /** Members that wait for room. */
  readonly #absent = new Map<string, number>();
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
      if (!this.#absent.has(name)) this.#engine.releaseGroup(name, this.#clock.now());
    }
    this.#wake();
  }

  /** A member waits for room. */
  await(name: string): void {
    this.#absent.set(name, (this.#absent.get(name) ?? 0) + 1);
    this.#engine.holdGroup(name, this.#clock.now());
  }

  /** A member that waited is in, or was refused. */
  arrived(name: string): void {
    const left = (this.#absent.get(name) ?? 1) - 1;
    if (left > 0) {
      this.#absent.set(name, left);
      // With its first member there is a group to hold.
      this.#engine.holdGroup(name, this.#clock.now());
      return;
    }
    this.#absent.delete(name);
    if (!this.#until.has(name)) this.release([name]);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#until.clear();
    this.#absent.clear();
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
