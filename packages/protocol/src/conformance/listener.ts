import type { BrokerEvent, EventFilter } from "../event.ts";
import { show, Unmet } from "./check.ts";
import type { Patience } from "./opened.ts";

/** A reader of events and all that it has heard. */
export class Listener {
  readonly #scene: Patience;
  readonly #events: AsyncIterableIterator<BrokerEvent>;
  readonly heard: BrokerEvent[] = [];
  isOver = false;
  error: unknown;

  private constructor(scene: Patience, filter: EventFilter | undefined) {
    this.#scene = scene;
    this.#events = scene.broker.events(filter);
  }

  /** Answers when the reader is sure to hear what happens next. */
  static async open(scene: Patience, filter: EventFilter | undefined): Promise<Listener> {
    const listener = new Listener(scene, filter);
    void listener.#read();
    await scene.settle();
    return listener;
  }

  get names(): string[] {
    return this.heard.map(({ event }) => event);
  }

  /** The first event of a kind; it must come without time passing. */
  async hears<E extends BrokerEvent["event"]>(
    event: E,
    what: string,
  ): Promise<Extract<BrokerEvent, { event: E }>> {
    const is = (heard: BrokerEvent): boolean => heard.event === event;
    await this.#scene.until(
      () => this.heard.some(is),
      () => `${what}: expected to hear "${event}", heard ${show(this.names)}`,
    );
    return this.heard.find(is) as Extract<BrokerEvent, { event: E }>;
  }

  /** Leaves the loop. */
  async leave(): Promise<void> {
    if (this.#events.return === undefined) throw new Unmet("the events cannot be left");
    await this.#events.return();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const next = await this.#events.next();
        if (next.done === true) break;
        this.heard.push(next.value);
      }
    } catch (error) {
      this.error = error;
    }
    this.isOver = true;
  }
}
