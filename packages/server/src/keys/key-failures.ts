import { SluiceError } from "@sluice/protocol";
import { FAILING_ADDRESSES_MAX } from "../limits.ts";

const MINUTE_MS = 60_000;

/** Wrong keys by address: an address with too many is refused for the rest of the minute. */
export class KeyFailures {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #byAddress = new Map<string, { count: number; since: number }>();

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /**
   * Counts one; refuses with RATE_LIMITED what comes beyond the limit. A right key is never asked
   * here, so that wrong keys do not lock out others at the same address.
   */
  count(address: string): void {
    const known = this.#byAddress.get(address);
    const now = this.#now();
    if (known === undefined || known.since + MINUTE_MS <= now) return this.#first(address, now);
    if (++known.count <= this.#perMinute) return;
    const retryAfterMs = Math.ceil(known.since + MINUTE_MS - now);
    const message = "too many wrong API keys from this address; try again later";
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs });
  }

  #first(address: string, since: number): void {
    this.#byAddress.delete(address);
    this.#byAddress.set(address, { count: 1, since });
    if (this.#byAddress.size <= FAILING_ADDRESSES_MAX) return;
    const [oldest] = this.#byAddress.keys();
    this.#byAddress.delete(oldest!);
  }
}
