import type { Clock } from "@sluice/protocol";
import { GROUP_HELD_MS } from "../limits.ts";
import { RecentNames } from "./recent-names.ts";

/** Groups that callers of this router hold: it must not release them for reasons of its own. */
export class CallerGroups {
  readonly #clock: Clock;
  readonly #until = new RecentNames<number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(names: Iterable<string>): void {
    const until = this.#clock.now() + GROUP_HELD_MS;
    for (const name of names) this.#until.set(name, until);
  }

  release(names: Iterable<string>): void {
    for (const name of names) this.#until.delete(name);
  }

  has(name: string): boolean {
    return (this.#until.get(name) ?? 0) > this.#clock.now();
  }
}
