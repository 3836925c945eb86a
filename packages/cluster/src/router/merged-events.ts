/**
 * The events of all partitions, for one reader. Those of one partition come in its order; between
 * partitions there is none. What all of them tell is passed on once: of a queue by its first
 * partition, of a gate by its home, of a group by the last partition in which it ended.
 */
import {
  type BrokerEvent,
  type EventFilter,
  EventQueue,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import { homeOfGate } from "../hash.ts";
import { groupOf } from "./groups.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { RecentNames } from "./recent-names.ts";

export class MergedEvents extends EventQueue {
  readonly #calls: PartitionCalls;
  readonly #filter: EventFilter;
  /** By partition. */
  readonly #sources = new Map<number, AsyncIterableIterator<BrokerEvent>>();
  readonly #onOver: (events: MergedEvents) => void;
  readonly #ended = new RecentNames<true>();
  readonly #unlisten: () => void;
  #isOver = false;

  constructor(calls: PartitionCalls, filter: EventFilter, onOver: (events: MergedEvents) => void) {
    super(() => {});
    this.#calls = calls;
    this.#onOver = onOver;
    this.#filter = filter;
    this.#openAll();
    this.#unlisten = calls.directory.onChange(() => this.#openAll());
  }

  /** Also those that were added to the cluster since. */
  #openAll(): void {
    for (const partition of this.#calls.all) {
      if (!this.#sources.has(partition)) void this.#read(partition, this.#open(partition));
    }
  }

  override end(error?: SluiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unlisten();
    for (const source of this.#sources.values()) void source.return?.().catch(() => {});
    super.end(error);
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
        if (event !== undefined) this.push(event);
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
        return homeOfGate(event.gate, directory.homes) === partition ? event : undefined;
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
    // It is not known any more, or a partition is away: the event is passed on as it is.
    if (info === undefined) return event;
    if (!info.ended) return undefined;
    const name = JSON.stringify([event.group, ...info.members.map(({ id }) => id)]);
    if (this.#ended.get(name) !== undefined) return undefined;
    this.#ended.set(name, true);
    return { ...event, members: info.members };
  }
}

function incomplete(): SluiceError {
  const message =
    "a partition has moved to another node and events are missing: read the state again, then call events again";
  return new SluiceError("DISCONNECTED", message);
}
