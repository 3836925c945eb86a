import type { BrokerEvent } from "@sluice/protocol";

/** The events of a partition, each changed on its way; nothing waits here. */
export class RenamedEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #events: AsyncIterableIterator<BrokerEvent>;
  readonly #change: (event: BrokerEvent) => BrokerEvent;

  constructor(
    events: AsyncIterableIterator<BrokerEvent>,
    change: (event: BrokerEvent) => BrokerEvent,
  ) {
    this.#events = events;
    this.#change = change;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<BrokerEvent>> {
    const next = await this.#events.next();
    return next.done === true ? next : { done: false, value: this.#change(next.value) };
  }

  async return(): Promise<IteratorResult<BrokerEvent>> {
    await this.#events.return?.();
    return { done: true, value: undefined };
  }
}
