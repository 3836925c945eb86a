import { type BrokerEvent, SluiceError } from "@sluice/protocol";
import { EVENTS_WAITING_MAX } from "./limits.ts";

/** What a server tells, for one reader. */
export class RemoteEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #leave: () => void;
  #events: BrokerEvent[] = [];
  #at = 0;
  #isOver = false;
  #error: SluiceError | undefined = undefined;
  #wake: (() => void) | undefined = undefined;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<BrokerEvent, undefined>> {
    for (;;) {
      const value = this.#shift();
      if (value !== undefined) return { done: false, value };
      if (this.#isOver) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<BrokerEvent, undefined>> {
    if (!this.#isOver) this.#leave();
    this.#events = [];
    this.#at = 0;
    this.end();
    return { done: true, value: undefined };
  }

  tell(events: readonly BrokerEvent[]): void {
    if (this.#isOver) return;
    for (const event of events) this.#events.push(event);
    if (this.#events.length - this.#at > EVENTS_WAITING_MAX) {
      this.#leave();
      const message = `more than ${EVENTS_WAITING_MAX} events wait for their reader`;
      this.end(new SluiceError("RATE_LIMITED", message));
    }
    this.#wake?.();
  }

  end(error?: SluiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#wake?.();
  }

  #shift(): BrokerEvent | undefined {
    const event = this.#events[this.#at];
    if (event === undefined) return undefined;
    if (++this.#at === this.#events.length) {
      this.#events = [];
      this.#at = 0;
    }
    return event;
  }
}
