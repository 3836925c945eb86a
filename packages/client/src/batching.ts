import type { BatchRule, Clock, Timer } from "@sluice/protocol";

export interface BatchingOptions {
  readonly clock: Clock;
  readonly rule: BatchRule;
  /** The first job of a batch has waited long enough for more. */
  readonly onDue: () => void;
}

/**
 * Cuts the jobs that a worker holds ready into batches: a batch may start when it is full, or when
 * its first job has waited for `wait`.
 */
export class Batching {
  readonly #options: BatchingOptions;
  #isDue = false;
  #timer: Timer | undefined = undefined;

  constructor(options: BatchingOptions) {
    this.#options = options;
  }

  get max(): number {
    return this.#options.rule.max;
  }

  /** Whether a batch of these jobs may start now; else `onDue` says when. */
  mayStart(ready: readonly unknown[]): boolean {
    if (ready.length === 0) return false;
    const { clock, rule, onDue } = this.#options;
    if (ready.length >= rule.max || this.#isDue || rule.waitMs === 0) return true;
    this.#timer ??= clock.at(clock.now() + rule.waitMs, () => {
      this.#timer = undefined;
      this.#isDue = true;
      onDue();
    });
    return false;
  }

  /** Takes a batch out of the jobs that are ready. */
  take<T>(ready: T[]): T[] {
    this.stop();
    return ready.splice(0, this.max);
  }

  stop(): void {
    this.#isDue = false;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
