import type { BrokerEvent } from "@sluice/protocol";

/** Those events of a reader that may be seen; asked for each, so that a lost right ends it. */
export class SeenEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #events: AsyncIterableIterator<BrokerEvent>;
  readonly #isSeen: (event: BrokerEvent) => boolean;

  constructor(events: AsyncIterableIterator<BrokerEvent>, isSeen: (event: BrokerEvent) => boolean) {
    this.#events = events;
    this.#isSeen = isSeen;
  }

  async next(): Promise<IteratorResult<BrokerEvent>> {
    for (;;) {
      const result = await this.#events.next();
      try {
        if (result.done === true || this.#isSeen(result.value)) return result;
      } catch (error) {
        await this.return();
        throw error;
      }
    }
  }

  async return(): Promise<IteratorResult<BrokerEvent>> {
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<BrokerEvent> {
    return this;
  }
}
