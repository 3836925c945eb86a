/** The shares that lanes have received: S, the sum of cost ÷ weight, by name. */

const ROUNDING = 1e-9;

export class LaneShares {
  readonly s = new Map<string, number>();
  readonly #weights = new Map<string, number>();
  readonly #costs = new Map<string, number>();

  /** A lane to watch, with its weight and the largest cost of its jobs. */
  watch(lane: string, weight: number, costMax = 1): void {
    if (!this.s.has(lane)) this.s.set(lane, 0);
    this.#weights.set(lane, weight);
    this.#costs.set(lane, costMax);
  }

  forget(lane: string): void {
    this.s.delete(lane);
  }

  serve(lane: string, cost = 1): void {
    const s = this.s.get(lane);
    if (s !== undefined) this.s.set(lane, s + cost / this.#weights.get(lane)!);
  }

  /** One turn, and what the last job of it may cost beyond. */
  turn(lane: string): number {
    return 1 + (this.#costs.get(lane)! - 1) / this.#weights.get(lane)!;
  }

  /** How far the first is ahead of the last, beyond the turns that it may be ahead; ≤ 0 is fair. */
  excess(turns = 1): number {
    let least = Number.POSITIVE_INFINITY;
    for (const s of this.s.values()) least = Math.min(least, s);
    let worst = Number.NEGATIVE_INFINITY;
    for (const [lane, s] of this.s) {
      worst = Math.max(worst, s - least - turns * this.turn(lane));
    }
    return worst - ROUNDING;
  }
}

/**
 * The lead of one lane over another: the most that S of the first has grown beyond S of the second
 * since a moment. Every moment counts (`gain`), or only some (`gainSince`, and `begin` at each).
 */
export class Lead {
  #difference = 0;
  #least = 0;
  #most = 0;

  gain(amount: number): void {
    this.gainSince(amount);
    this.begin();
  }

  gainSince(amount: number): void {
    this.#difference += amount;
    this.#most = Math.max(this.#most, this.#difference - this.#least);
  }

  begin(): void {
    this.#least = Math.min(this.#least, this.#difference);
  }

  get most(): number {
    return this.#most - ROUNDING;
  }
}
