/**
 * How many requests a second one client address (of IPv6: one /64) may make. A flood from one
 * address then takes a few hundredths of the processor, and leaves the rest to others. Beyond the
 * pace an HTTP request waits for its turn, and a UDP packet is dropped: its client asks again.
 */
import { networkOf } from "./wire/announce.ts";

const SWEEP_MS = 1_000;

export class AddressPace {
  readonly #eachMs: number;
  /** How far ahead of its pace an address may be: a client that starts says all at once. */
  readonly #aheadMs = 1_000;
  /** For each address when all that it asked so far would have come at its pace. */
  readonly #paid = new Map<string, number>();
  #sweptAt = 0;

  constructor(perSecond: number) {
    this.#eachMs = 1_000 / perSecond;
  }

  /** Counts a request. Answers after how many milliseconds it may be served, and 0 for at once. */
  wait(address: string, now: number): number {
    const paid = this.#next(address, now);
    this.#paid.set(networkOf(address), paid);
    return Math.max(0, paid - this.#aheadMs - now);
  }

  /** Counts a request that may be served at once; one that may not is not counted. */
  take(address: string, now: number): boolean {
    const paid = this.#next(address, now);
    if (paid - this.#aheadMs > now) return false;
    this.#paid.set(networkOf(address), paid);
    return true;
  }

  #next(address: string, now: number): number {
    if (now - this.#sweptAt >= SWEEP_MS) this.#sweep(now);
    return Math.max(this.#paid.get(networkOf(address)) ?? 0, now) + this.#eachMs;
  }

  /** An address whose time has come is as good as one that was never seen. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [network, paid] of this.#paid) if (paid <= now) this.#paid.delete(network);
  }
}
