import type { JSX } from "preact";
import { at } from "../data/api.ts";
import { usePlace } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { may, mayAll } from "../words/may.ts";
import { link, type Route } from "../words/route.ts";

interface Entry {
  /** Its address, and its icon. */
  name: IconName;
  title: string;
  /** The views that belong to it. */
  views: readonly Route["view"][];
}

const WORK: readonly Entry[] = [
  { name: "queues", title: "Queues", views: ["overview", "queue"] },
  { name: "jobs", title: "Jobs", views: ["jobs", "job", "flow", "group"] },
  { name: "failures", title: "Failures", views: ["failures"] },
  { name: "schedules", title: "Schedules", views: ["schedules", "schedule"] },
  { name: "gates", title: "Gates", views: ["gates"] },
  { name: "workers", title: "Workers", views: ["workers"] },
  { name: "events", title: "Events", views: ["events"] },
];

const KEYS: Entry = { name: "keys", title: "Keys", views: ["keys"] };
const WEBHOOKS: Entry = { name: "webhooks", title: "Webhooks", views: ["webhooks"] };
const AUDIT: Entry = { name: "audit", title: "Audit log", views: ["audit"] };
const CONFIG: Entry = { name: "config", title: "Configuration", views: ["config"] };
const APPS: Entry = { name: "apps", title: "Apps", views: ["apps"] };

interface SideProps {
  route: Route;
  isOpen: boolean;
}

/** The places of the page: beside it on a wide screen, behind a button on a narrow one. */
export function Side({ route, isOpen }: SideProps): JSX.Element {
  const { session } = usePlace();
  const { data } = useLive<{ items: unknown[] }>(at(["apps"]), () => false);
  const operation: Entry[] = [];
  if (session.hasKeys && may(session, "admin")) operation.push(KEYS);
  if (session.hasWebhooks === true && may(session, "admin")) operation.push(WEBHOOKS);
  if (mayAll(session, "admin") || session.isReadOnly) operation.push(AUDIT);
  if (mayAll(session, "view")) operation.push(CONFIG);
  if ((data?.items.length ?? 0) > 0) operation.push(APPS);
  return (
    <nav id="side" class={`side ${isOpen ? "open" : ""}`} aria-label="main">
      <Entries entries={WORK} route={route} />
      {operation.length > 0 && <Entries entries={operation} route={route} />}
    </nav>
  );
}

function Entries({ entries, route }: { entries: readonly Entry[]; route: Route }): JSX.Element {
  return (
    <ul>
      {entries.map(({ name, title, views }) => (
        <li key={name}>
          <a
            href={name === "queues" ? link() : link(name)}
            aria-current={views.includes(route.view) ? "page" : undefined}
          >
            <Icon name={name} />
            {title}
          </a>
        </li>
      ))}
    </ul>
  );
}
