/** The filter of events, as it came over a network. */
import { EVENT_NAMES, type EventFilter, invalid } from "@sluice/protocol";

export function checkFilter(filter: unknown): EventFilter {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    throw invalid("filter", "an object", filter);
  }
  const { queue, events } = filter as { queue?: unknown; events?: unknown };
  if (queue !== undefined && typeof queue !== "string") throw invalid("queue", "a text", queue);
  if (events !== undefined) checkNames(events);
  return filter;
}

/** An event that does not exist would be waited for in vain. */
function checkNames(events: unknown): void {
  if (!Array.isArray(events)) throw invalid("events", "a list of texts", events);
  for (const name of events) {
    if (!NAMES.has(name)) throw invalid("events", `some of ${EVENT_NAMES.join(", ")}`, name);
  }
}

const NAMES: ReadonlySet<unknown> = new Set(EVENT_NAMES);
