/**
 * Changes that a partition has missed: each is sent again until the partition takes it or this
 * router closes. A partition that is opened reads them from their homes itself; this is for one
 * that was served all the time, by a node that this process could not reach.
 */
import type { Clock } from "@sluice/protocol";
import { NAMES_MAX, PENDING_TELL_MS } from "../limits.ts";

type Tell = () => Promise<void>;

export class PendingTells {
  readonly #clock: Clock;
  readonly #isClosed: () => boolean;
  readonly #byPartition = new Map<number, Map<string, Tell>>();
  #isRunning = false;

  constructor(clock: Clock, isClosed: () => boolean) {
    this.#clock = clock;
    this.#isClosed = isClosed;
  }

  /** A tell replaces the one that was kept under the same name. */
  keep(partition: number, name: string, tell: Tell): void {
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
        clock.at(clock.now() + PENDING_TELL_MS, resolve).unref?.();
      });
      const all = [...this.#byPartition.keys()];
      await Promise.all(all.map((partition) => this.#send(partition)));
    }
    this.#isRunning = false;
  }

  /** Up to the first that it does not take: then it is still away. */
  async #send(partition: number): Promise<void> {
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
