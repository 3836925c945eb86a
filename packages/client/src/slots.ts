/**
 * How many handlers run side by side, by the load.
 *
 * The rule: once a second, the load of the second that is over is looked at. It is the share of
 * slots that were busy, on the average over that second. At or above `scaleUpAt` there is one slot
 * more, up to `max`; below `scaleDownAt` one less, down to `min`; in between nothing changes. So
 * nothing is decided on a moment's peak, and from 10 to 20 slots it takes ten seconds of load.
 *
 * A slot that is taken away is never taken from a running handler: it is not filled again.
 */
import type { Clock, ElasticRule, Timer } from "@sluice/protocol";

const LOOK_EVERY_MS = 1_000;

export interface Scaled {
  from: number;
  to: number;
  load: number;
}

export interface SlotsOptions {
  readonly clock: Clock;
  readonly rule: ElasticRule;
  readonly onScaled: (scaled: Scaled) => void;
  readonly onError: (error: unknown) => void;
}

export class Slots {
  readonly #options: SlotsOptions;
  readonly #isElastic: boolean;
  #count: number;
  #busy = 0;
  /** Busy slots times milliseconds since the second began. */
  #area = 0;
  #areaAt = 0;
  #beganAt = 0;
  #timer: Timer | undefined = undefined;
  #isStopped = false;

  constructor(options: SlotsOptions) {
    this.#options = options;
    const { min, max } = options.rule;
    this.#count = min;
    this.#isElastic = min < max;
    if (this.#isElastic) this.#begin();
  }

  get count(): number {
    return this.#count;
  }

  get busy(): number {
    return this.#busy;
  }

  take(): void {
    if (this.#isElastic) this.#measure();
    this.#busy++;
  }

  release(): void {
    if (this.#isElastic) this.#measure();
    this.#busy--;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #begin(): void {
    const { clock } = this.#options;
    this.#area = 0;
    this.#beganAt = clock.now();
    this.#areaAt = this.#beganAt;
    this.#timer = clock.at(this.#beganAt + LOOK_EVERY_MS, () => void this.#look());
  }

  #measure(): void {
    const now = this.#options.clock.now();
    this.#area += this.#busy * (now - this.#areaAt);
    this.#areaAt = now;
  }

  async #look(): Promise<void> {
    try {
      this.#judge(await this.#load());
    } catch (error) {
      this.#options.onError(error);
    }
    if (!this.#isStopped) this.#begin();
  }

  #load(): number | Promise<number> {
    const { load } = this.#options.rule;
    if (load !== undefined) return load();
    this.#measure();
    return this.#area / (this.#count * Math.max(this.#areaAt - this.#beganAt, 1));
  }

  #judge(load: number): void {
    const { min, max, scaleUpAt, scaleDownAt } = this.#options.rule;
    const from = this.#count;
    if (load >= scaleUpAt) this.#count = Math.min(from + 1, max);
    else if (load < scaleDownAt) this.#count = Math.max(from - 1, min);
    if (this.#count !== from && !this.#isStopped) {
      this.#options.onScaled({ from, to: this.#count, load });
    }
  }
}
