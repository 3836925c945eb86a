/** Where one is on the page, kept behind the # of the address. */

export type QueueTab = "lanes" | "jobs" | "workers" | "settings";

export type Route =
  | { view: "overview" }
  | { view: "queue"; queue: string; tab: QueueTab }
  | { view: "gates"; gate?: string }
  | { view: "job"; id: string }
  | { view: "apps"; app?: string }
  | { view: "lost" };

export const QUEUE_TABS: readonly QueueTab[] = ["lanes", "jobs", "workers", "settings"];

export function parseRoute(hash: string): Route {
  const parts = hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  const [view, name, tab] = parts;
  if (view === undefined) return { view: "overview" };
  if (view === "queues" && name !== undefined) {
    const known = QUEUE_TABS.find((one) => one === tab) ?? "lanes";
    return { view: "queue", queue: name, tab: known };
  }
  if (view === "gates") return name === undefined ? { view } : { view, gate: name };
  if (view === "jobs" && name !== undefined) return { view: "job", id: name };
  if (view === "apps") return name === undefined ? { view } : { view, app: name };
  return { view: "lost" };
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
