/**
 * The events of all partitions, for one reader. Those of one partition come in its order; between
 * partitions there is none. What all of them tell is passed on once: of a queue by its first
 * partition, of a gate by its home, of a group by the last partition in which it ended.
 */
import { type BrokerEvent, type EventFilter, SluiceError, toSluiceError } from "@sluice/protocol";
import { homeOfGate } from "../hash.ts";
import { EVENTS_WAITING_MAX } from "../limits.ts";
import { groupOf } from "./groups.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { RecentNames } from "./recent-names.ts";

type Next = IteratorResult<BrokerEvent, undefined>;

export class MergedEvents implements AsyncIterableIterator<BrokerEvent> {
  readonly #calls: PartitionCalls;
  readonly #filter: EventFilter;
  /** By partition. */
  readonly #sources = new Map<number, AsyncIterableIterator<BrokerEvent>>();
  readonly #onOver: (events: MergedEvents) => void;
  readonly #ended = new RecentNames<true>();
  readonly #waiting: BrokerEvent[] = [];
  /** Those who ask for the next one, in the order in which they did. */
  readonly #asking: PromiseWithResolvers<Next>[] = [];
  #isOver = false;
  #error: SluiceError | undefined = undefined;

  constructor(calls: PartitionCalls, filter: EventFilter, onOver: (events: MergedEvents) => void) {
    this.#calls = calls;
    this.#onOver = onOver;
    this.#filter = filter;
    for (const partition of calls.all) void this.#read(partition, this.#open(partition));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    const event = this.#waiting.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#isOver) return this.#last();
    const asking = Promise.withResolvers<Next>();
    this.#asking.push(asking);
    return asking.promise;
  }

  async return(): Promise<Next> {
    this.#waiting.length = 0;
    this.end();
    return { done: true, value: undefined };
  }

  /** What waits can still be read. */
  end(error?: SluiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    for (const source of this.#sources.values()) void source.return?.().catch(() => {});
    for (const asking of this.#asking.splice(0)) asking.resolve(this.#last());
    this.#onOver(this);
  }

  #open(partition: number): AsyncIterableIterator<BrokerEvent> {
    const source = this.#calls.port(partition).events(this.#filter);
    this.#sources.set(partition, source);
    return source;
  }

  async #read(partition: number, source: AsyncIterableIterator<BrokerEvent>): Promise<void> {
    try {
      for (;;) {
        const next = await source.next();
        if (this.#isOver) return;
        if (next.done === true) return this.end(this.#calls.isClosed ? undefined : incomplete());
        const event = await this.#judge(partition, next.value);
        if (event !== undefined) this.#tell(event);
      }
    } catch (error) {
      const known = toSluiceError(error);
      // It was never connected to where the partition was, so nothing was missed.
      const isUnheard = known.code === "MOVED" && !this.#calls.isClosed && !this.#isOver;
      if (isUnheard) return this.#read(partition, this.#open(partition));
      this.end(known.code === "CLOSED" ? undefined : known);
    }
  }

  /** Undefined: another partition tells it, or has. */
  async #judge(partition: number, event: BrokerEvent): Promise<BrokerEvent | undefined> {
    const { directory } = this.#calls;
    switch (event.event) {
      case "queue":
      case "queue-deleted":
        return directory.placementOf(event.queue)[0] === partition ? event : undefined;
      case "gate":
      case "cooled":
        return homeOfGate(event.gate, directory.partitions) === partition ? event : undefined;
      case "group-ended":
        return directory.partitions === 1 ? event : this.#groupEnded(event);
      default:
        return event;
    }
  }

  async #groupEnded(
    event: Extract<BrokerEvent, { event: "group-ended" }>,
  ): Promise<BrokerEvent | undefined> {
    const info = await groupOf(this.#calls, event.group).catch(() => undefined);
    // It is not known any more, or a partition is away: what there is to tell is told.
    if (info === undefined) return event;
    if (!info.ended) return undefined;
    const name = JSON.stringify([event.group, ...info.members.map(({ id }) => id)]);
    if (this.#ended.get(name) !== undefined) return undefined;
    this.#ended.set(name, true);
    return { ...event, members: info.members };
  }

  #tell(event: BrokerEvent): void {
    if (this.#isOver) return;
    const asking = this.#asking.shift();
    if (asking !== undefined) return asking.resolve({ done: false, value: event });
    if (this.#waiting.push(event) <= EVENTS_WAITING_MAX) return;
    this.#waiting.length = 0;
    const message = `more than ${EVENTS_WAITING_MAX} events were not read`;
    this.end(new SluiceError("RATE_LIMITED", message));
  }

  /** The first to ask after the end hears why, the others only that it is over. */
  async #last(): Promise<Next> {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }
}

function incomplete(): SluiceError {
  const message = "a partition has moved: what happened there meanwhile was not told";
  return new SluiceError("DISCONNECTED", message);
}
