/** What the port's types promise of a call's arguments, held against what came over a network. */
import { EVENT_NAMES, type EventFilter, SluiceError } from "@sluice/protocol";
import type { CallName } from "@sluice/protocol/wire";

/** Calls that begin with a list, and those that begin with nothing; the others name something. */
const LISTS: ReadonlySet<CallName> = new Set([
  "progress",
  "cancel",
  "retry",
  "queuesOf",
  "releaseGroups",
]);
const NONE: ReadonlySet<CallName> = new Set(["queues", "gates", "stats"]);
const OBJECTS: ReadonlySet<CallName> = new Set(["lend"]);

export function checkArguments(name: CallName, args: readonly unknown[]): void {
  const [first] = args;
  if (NONE.has(name)) return;
  if (LISTS.has(name)) {
    if (!Array.isArray(first)) throw invalid(`${name}[0]`, "an array", first);
  } else if (OBJECTS.has(name)) {
    if (typeof first !== "object") throw invalid(`${name}[0]`, "an object", first);
  } else if (typeof first !== "string") throw invalid(`${name}[0]`, "a text", first);
}

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

function invalid(field: string, wanted: string, value: unknown): SluiceError {
  const message = `${field} must be ${wanted}, got ${JSON.stringify(value)?.slice(0, 64)}`;
  return new SluiceError("INVALID", message, { field });
}
