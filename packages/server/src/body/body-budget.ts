import { SluiceError } from "@sluice/protocol";
import { BODIES_RETRY_MS, BODY_BYTES_SMALL_MAX, SMALL_BODIES_SHARE } from "../limits.ts";

/**
 * What all bodies together may take of the memory, from their first byte to the answer. Large ones
 * leave a part of it free, so that acks and heartbeats are taken while producers fill the rest.
 */
export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of all bodies that are being read or handled. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes bytes for a body that has `held` already; refuses with RATE_LIMITED. */
  take(bytes: number, held: number): void {
    const isLarge = held + bytes > BODY_BYTES_SMALL_MAX;
    const most = isLarge ? this.#bytesMax * (1 - SMALL_BODIES_SHARE) : this.#bytesMax;
    if (this.#bytes + bytes > most) {
      const message = `the server handles ${this.#bytes} bytes of requests at the moment; try again`;
      throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BODIES_RETRY_MS });
    }
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
