import { type BrokerEvent, SluiceError } from "@sluice/protocol";
import { EVENTS_WAITING_MAX } from "./limits.ts";

type Next = IteratorResult<BrokerEvent, undefined>;

/** What a server tells, for one reader. */
export class RemoteEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #leave: () => void;
  /** Asks the server for them, which hears of it once there is a connection. */
  ask: () => void = () => {};
  isHeard = false;
  #events: BrokerEvent[] = [];
  #at = 0;
  #isOver = false;
  #error: SluiceError | undefined = undefined;
  /** Those who ask for the next one, in the order in which they did. */
  readonly #asking: PromiseWithResolvers<Next>[] = [];

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Next> {
    const value = this.#asking.length === 0 ? this.#shift() : undefined;
    if (value !== undefined) return { done: false, value };
    if (this.#isOver) return this.#last();
    const asking = Promise.withResolvers<Next>();
    this.#asking.push(asking);
    return asking.promise;
  }

  async return(): Promise<Next> {
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
    this.#answer();
  }

  end(error?: SluiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#answer();
    for (const { resolve } of this.#asking.splice(0)) resolve(this.#last());
  }

  #answer(): void {
    while (this.#asking.length > 0) {
      const value = this.#shift();
      if (value === undefined) return;
      this.#asking.shift()!.resolve({ done: false, value });
    }
  }

  /** The first to ask after the end hears why, the others only that it is over. */
  async #last(): Promise<Next> {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
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
