import { EVENT_NAMES, type EventFilter, invalid, knownFields } from "@sluice/protocol";

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
