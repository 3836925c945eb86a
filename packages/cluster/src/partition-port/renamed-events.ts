import type { BrokerEvent } from "@sluice/protocol";

/** The events of a partition, each changed on its way; nothing waits here. */
export class RenamedEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #events: AsyncIterableIterator<BrokerEvent>;
  readonly #change: (event: BrokerEvent) => BrokerEvent;
  readonly #onOver: (events: RenamedEvents) => void;

  constructor(
    events: AsyncIterableIterator<BrokerEvent>,
    change: (event: BrokerEvent) => BrokerEvent,
    onOver: (events: RenamedEvents) => void,
  ) {
    this.#events = events;
    this.#change = change;
    this.#onOver = onOver;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<BrokerEvent>> {
    const next = await this.#events.next();
    if (next.done !== true) return { done: false, value: this.#change(next.value) };
    this.#onOver(this);
    return next;
  }

  async return(): Promise<IteratorResult<BrokerEvent>> {
    this.#onOver(this);
    await this.#events.return?.();
    return { done: true, value: undefined };
  }
}
