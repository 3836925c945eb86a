import type { BrokerEvent } from "@sluice/protocol";
import type { Principal } from "./principal.ts";

/**
 * Those events of a reader that may be seen. Rights are asked for with each event. A key that is
 * revoked or expires ends the reader at once, also while nothing happens.
 */
export class SeenEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #events: AsyncIterableIterator<BrokerEvent>;
  readonly #isSeen: (event: BrokerEvent) => boolean;
  readonly #principal: Principal;
  readonly #leave: (() => void) | undefined;
  #refusal: unknown;

  constructor(
    events: AsyncIterableIterator<BrokerEvent>,
    principal: Principal,
    isSeen: (event: BrokerEvent) => boolean,
  ) {
    this.#events = events;
    this.#isSeen = isSeen;
    this.#principal = principal;
    this.#leave = principal.watch?.(() => this.#look());
  }

  #look(): void {
    try {
      this.#principal.grants();
    } catch (error) {
      this.#refusal = error;
      void this.return();
    }
  }

  async next(): Promise<IteratorResult<BrokerEvent>> {
    for (;;) {
      const result = await this.#events.next();
      if (result.done === true) this.#leave?.();
      if (this.#refusal !== undefined) throw this.#refusal;
      try {
        if (result.done === true || this.#isSeen(result.value)) return result;
      } catch (error) {
        await this.return();
        throw error;
      }
    }
  }

  async return(): Promise<IteratorResult<BrokerEvent>> {
    this.#leave?.();
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<BrokerEvent> {
    return this;
  }
}
