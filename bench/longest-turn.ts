// How long one turn of the event loop takes at most: by the clock, and by the processor time of the
// loop's own thread, to which a machine with other work to do adds nothing.

export interface TurnTimes {
  readonly stallMs: number;
  readonly busyMs: number;
}

export class LongestTurn {
  #stallMs = 0;
  #busyMs = 0;
  #isOver = false;
  #last = performance.now();
  #used = process.threadCpuUsage();
  readonly #watching: Promise<void>;

  constructor() {
    this.#watching = this.#watch();
  }

  async end(): Promise<TurnTimes> {
    this.#isOver = true;
    await this.#watching;
    return { stallMs: this.#stallMs, busyMs: this.#busyMs };
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      await new Promise(setImmediate);
      const now = performance.now();
      const { user, system } = process.threadCpuUsage(this.#used);
      this.#stallMs = Math.max(this.#stallMs, now - this.#last);
      this.#busyMs = Math.max(this.#busyMs, (user + system) / 1000);
      this.#last = now;
      this.#used = process.threadCpuUsage();
    }
  }
}
