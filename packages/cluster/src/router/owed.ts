/**
 * What a partition has to be told and could not be: it is told again, until it was or this router
 * is closed. One that is opened anew finds out by itself; this is for one that was served all the
 * time, by a node that could not be reached from here.
 */
import type { Clock } from "@sluice/protocol";
import { NAMES_MAX, OWED_MS } from "./limits.ts";

type Tell = () => Promise<void>;

export class Owed {
  readonly #clock: Clock;
  readonly #isClosed: () => boolean;
  readonly #byPartition = new Map<number, Map<string, Tell>>();
  #isRunning = false;

  constructor(clock: Clock, isClosed: () => boolean) {
    this.#clock = clock;
    this.#isClosed = isClosed;
  }

  /** What is owed under a name takes the place of what was owed before. */
  owe(partition: number, name: string, tell: Tell): void {
    const own = this.#byPartition.get(partition) ?? new Map<string, Tell>();
    this.#byPartition.set(partition, own);
    if (own.size >= NAMES_MAX && !own.has(name)) return;
    own.set(name, tell);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const clock = this.#clock;
    this.#isRunning = true;
    while (this.#byPartition.size > 0 && !this.#isClosed()) {
      await new Promise<void>((resolve) => {
        clock.at(clock.now() + OWED_MS, resolve).unref?.();
      });
      const all = [...this.#byPartition.keys()];
      await Promise.all(all.map((partition) => this.#pay(partition)));
    }
    this.#isRunning = false;
  }

  /** Up to the first that it does not take: then it is still away. */
  async #pay(partition: number): Promise<void> {
    const own = this.#byPartition.get(partition)!;
    for (const [name, tell] of own) {
      if (this.#isClosed()) return;
      try {
        await tell();
      } catch {
        return;
      }
      if (own.get(name) === tell) own.delete(name);
    }
    if (own.size === 0) this.#byPartition.delete(partition);
  }
}
