/** A token bucket: it refills at a rate, tokens are taken one by one, and it starts full. */
export class AnnounceBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #level: number;
  #at: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#level = burst;
    this.#at = now;
  }

  take(now: number): boolean {
    const gained = ((now - this.#at) * this.#perSecond) / 1000;
    this.#level = Math.min(this.#burst, this.#level + gained);
    this.#at = now;
    if (this.#level < 1) return false;
    this.#level--;
    return true;
  }
}
