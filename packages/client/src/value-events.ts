import {
  type BrokerEvent,
  EVENT_NAMES,
  type EventFilter,
  invalid,
  knownFields,
} from "@sluice/protocol";
import { decodeLeniently } from "./payload.ts";

type Ended = Extract<BrokerEvent, { event: "ended" }>;

/** What happens in the broker, with results as values; a result that is not JSON stays bytes. */
export type SluiceEvent =
  | Exclude<BrokerEvent, { event: "ended" }>
  | (Omit<Ended, "result"> & { result?: unknown });

/** Which events are read; without a filter all of them. */
export interface SluiceEventFilter<Name extends SluiceEvent["event"] = SluiceEvent["event"]> {
  queue?: string;
  events?: readonly Name[];
}

/** The events with these names. */
export type EventsNamed<Name extends SluiceEvent["event"]> = Extract<SluiceEvent, { event: Name }>;

/** The events of the port, as users read them. */
export class ValueEvents implements AsyncIterableIterator<SluiceEvent> {
  readonly #events: AsyncIterableIterator<BrokerEvent>;

  constructor(events: AsyncIterableIterator<BrokerEvent>) {
    this.#events = events;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<SluiceEvent, undefined>> {
    const next = await this.#events.next();
    if (next.done === true) return { done: true, value: undefined };
    return { done: false, value: shown(next.value) };
  }

  async return(): Promise<IteratorResult<SluiceEvent, undefined>> {
    await this.#events.return?.();
    return { done: true, value: undefined };
  }
}

function shown(event: BrokerEvent): SluiceEvent {
  if (event.event !== "ended" || event.result === undefined) return event;
  return { ...event, result: decodeLeniently(event.result) };
}

/** What is not known would be waited for in vain. */
export function parseFilter(value: unknown): EventFilter {
  const { queue, events } = knownFields<EventFilter>("events", value, ["queue", "events"]);
  if (queue !== undefined && typeof queue !== "string") {
    throw invalid("events.queue", "the name of a queue", queue);
  }
  const filter: EventFilter = queue === undefined ? {} : { queue };
  if (events !== undefined) filter.events = parseNames(events);
  return filter;
}

function parseNames(events: unknown): (typeof EVENT_NAMES)[number][] {
  if (!Array.isArray(events)) throw invalid("events.events", "an array", events);
  return events.map((name, i) => parseName(`events.events[${i}]`, name));
}

function parseName(field: string, value: unknown): (typeof EVENT_NAMES)[number] {
  const name = EVENT_NAMES.find((known) => known === value);
  if (name === undefined) throw invalid(field, `one of ${EVENT_NAMES.join(", ")}`, value);
  return name;
}
