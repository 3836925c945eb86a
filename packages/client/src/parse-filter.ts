import { EVENT_NAMES, type EventFilter } from "@sluice/protocol";
import { fieldsOf, listOf } from "./fields.ts";
import { invalid } from "./invalid.ts";

/** What is not known would be waited for in vain. */
export function parseFilter(value: unknown): EventFilter {
  const { queue, events } = fieldsOf<EventFilter>("events", value, ["queue", "events"]);
  if (queue !== undefined && typeof queue !== "string") {
    throw invalid("events.queue", "the name of a queue", queue);
  }
  const filter: EventFilter = queue === undefined ? {} : { queue };
  if (events !== undefined) filter.events = listOf("events.events", events, parseName);
  return filter;
}

function parseName(field: string, value: unknown): (typeof EVENT_NAMES)[number] {
  const name = EVENT_NAMES.find((known) => known === value);
  if (name === undefined) throw invalid(field, `one of ${EVENT_NAMES.join(", ")}`, value);
  return name;
}
