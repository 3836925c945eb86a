/** Something that is done again and again, one run at a time, until it is stopped. */
import type { Clock, Timer } from "sluice";

export interface ChoreOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  run(): void | Promise<void>;
  onError(error: unknown): void;
}

export class Chore {
  readonly #options: ChoreOptions;
  #timer: Timer | undefined = undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ChoreOptions) {
    this.#options = options;
    this.#wait();
  }

  /** No further run begins; resolves when the one that runs has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #wait(): void {
    const { clock, everyMs } = this.#options;
    this.#timer = clock.at(clock.now() + everyMs, () => {
      this.#running = this.#run();
    });
    this.#timer.unref?.();
  }

  async #run(): Promise<void> {
    try {
      await this.#options.run();
    } catch (error) {
      this.#options.onError(error);
    }
    if (!this.#isStopped) this.#wait();
  }
}
