import { SluiceError } from "./errors.ts";
import type { BrokerEvent } from "./event.ts";
import { EVENTS_WAITING_MAX } from "./limits.ts";

type Next = IteratorResult<BrokerEvent, undefined>;

/**
 * Events for one reader. Those that it has not read yet wait here; a reader that falls too far
 * behind is cut off, so that it cannot fill the memory.
 */
export class EventQueue implements AsyncIterableIterator<BrokerEvent, undefined> {
  readonly #onLeft: () => void;
  readonly #waiting: BrokerEvent[] = [];
  /** Calls of `next` that wait for an event, in their order. */
  readonly #asking: PromiseWithResolvers<Next>[] = [];
  #isOver = false;
  #error: SluiceError | undefined = undefined;

  /** `onLeft` is called when the reader leaves or is cut off, not when the events end. */
  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  push(event: BrokerEvent): void {
    if (this.#isOver) return;
    const next = this.#asking.shift();
    if (next !== undefined) return next.resolve({ done: false, value: event });
    if (this.#waiting.push(event) <= EVENTS_WAITING_MAX) return;
    this.#waiting.length = 0;
    this.#onLeft();
    const message = `the reader is more than ${EVENTS_WAITING_MAX} events behind; it was cut off`;
    this.end(new SluiceError("RATE_LIMITED", message));
  }

  /** No more events; those that wait can still be read. */
  end(error?: SluiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    for (const { resolve } of this.#asking.splice(0)) resolve(this.#last());
  }

  async next(): Promise<Next> {
    const event = this.#waiting.shift();
    if (event !== undefined) return { done: false, value: event };
    if (this.#isOver) return this.#last();
    const next = Promise.withResolvers<Next>();
    this.#asking.push(next);
    return next.promise;
  }

  async return(): Promise<Next> {
    if (!this.#isOver) this.#onLeft();
    this.#waiting.length = 0;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The first call after the end gets its error, later ones only that it is over. */
  async #last(): Promise<Next> {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }
}
