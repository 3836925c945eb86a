/** Where one is on the page, kept behind the # of the address. */

export type QueueTab = "lanes" | "jobs" | "workers" | "settings";

/** Texts by their names, as after the ? of an address. */
export type RouteQuery = Readonly<Record<string, string>>;

export type Route =
  | { view: "overview" }
  | { view: "queue"; queue: string; tab: QueueTab }
  | { view: "jobs"; query: RouteQuery }
  | { view: "job"; id: string }
  | { view: "flow"; id: string }
  | { view: "group"; queue: string; group: string }
  | { view: "schedules"; query: RouteQuery }
  | { view: "schedule"; queue: string; schedule: string }
  | { view: "gates"; gate?: string }
  | { view: "apps"; app?: string; show?: string }
  | { view: Simple; query: RouteQuery }
  | { view: "lost" };

/** Views that their name alone leads to. */
export const SIMPLE = [
  "failures",
  "workers",
  "events",
  "keys",
  "webhooks",
  "audit",
  "config",
] as const;
export type Simple = (typeof SIMPLE)[number];

export const QUEUE_TABS: readonly QueueTab[] = ["lanes", "jobs", "workers", "settings"];

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const parts = path.split("/").filter((part) => part !== "");
  const [view, name, more] = parts.map(decode);
  if (view === undefined) return { view: "overview" };
  if (view === "queues" && name !== undefined) {
    const known = QUEUE_TABS.find((one) => one === more) ?? "lanes";
    return { view: "queue", queue: name, tab: known };
  }
  if (view === "jobs") return jobRoute(name, more, query);
  if (view === "gates") return name === undefined ? { view } : { view, gate: name };
  if (view === "apps") return appRoute(name, more);
  if (view === "groups" && name !== undefined && more !== undefined) {
    return { view: "group", queue: name, group: more };
  }
  if (view === "schedules") {
    if (name === undefined || more === undefined) return { view, query };
    return { view: "schedule", queue: name, schedule: more };
  }
  const simple = SIMPLE.find((one) => one === view);
  return simple === undefined ? { view: "lost" } : { view: simple, query };
}

/** The page of an app, and which of its things it shows. */
function appRoute(app: string | undefined, show: string | undefined): Route {
  if (app === undefined) return { view: "apps" };
  return show === undefined ? { view: "apps", app } : { view: "apps", app, show };
}

function jobRoute(id: string | undefined, more: string | undefined, query: RouteQuery): Route {
  if (id === undefined) return { view: "jobs", query };
  return more === "flow" ? { view: "flow", id } : { view: "job", id };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function link(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** A link with what a page filters by; empty values are left out. */
export function linkWith(
  view: string,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  const text = params.toString();
  return text === "" ? link(view) : `${link(view)}?${text}`;
}
