import type { Clock, Timer } from "@sluice/protocol";

interface Waits {
  readonly isOver: boolean;
}

/**
 * Ends what has waited too long. All wait equally long, so the first to begin is the first to end,
 * and one timer is enough.
 */
export class Patience<T extends Waits> {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #onLate: (late: T) => void;
  #waiting: { readonly of: T; readonly until: number }[] = [];
  #timer: Timer | undefined;

  constructor(clock: Clock, waitMs: number, onLate: (late: T) => void) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#onLate = onLate;
  }

  add(of: T): void {
    this.#waiting.push({ of, until: this.#clock.now() + this.#waitMs });
    this.#timer ??= this.#wait();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting = [];
  }

  #wait(): Timer {
    const timer = this.#clock.at(this.#waiting[0]!.until, () => this.#look());
    timer.unref?.();
    return timer;
  }

  #look(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    let ended = 0;
    for (const { of, until } of this.#waiting) {
      if (!of.isOver) {
        if (until > now) break;
        this.#onLate(of);
      }
      ended++;
    }
    this.#waiting.splice(0, ended);
    if (this.#waiting.length > 0) this.#timer ??= this.#wait();
  }
}
