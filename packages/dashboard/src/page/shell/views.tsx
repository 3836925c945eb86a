/** Which view an address shows. All but the overview are loaded when they are needed. */
import type { JSX } from "preact";
import { lazy } from "../parts/lazy.tsx";
import { OverviewView } from "../views/overview.tsx";
import { capital } from "../words/format.ts";
import type { Route } from "../words/route.ts";

const Apps = lazy(async () => (await import("../views/apps.tsx")).AppsView);
const Audit = lazy(async () => (await import("../views/audit.tsx")).AuditView);
const Config = lazy(async () => (await import("../views/config.tsx")).ConfigView);
const Events = lazy(async () => (await import("../views/events.tsx")).EventsView);
const Failures = lazy(async () => (await import("../views/failures.tsx")).FailuresView);
const Find = lazy(async () => (await import("../views/find/find.tsx")).FindView);
const Flow = lazy(async () => (await import("../views/flow/flow.tsx")).FlowView);
const Gates = lazy(async () => (await import("../views/gates.tsx")).GatesView);
const Group = lazy(async () => (await import("../views/group.tsx")).GroupView);
const Job = lazy(async () => (await import("../views/job/job.tsx")).JobView);
const Keys = lazy(async () => (await import("../views/keys.tsx")).KeysView);
const Queue = lazy(async () => (await import("../views/queue/queue.tsx")).QueueView);
const Schedule = lazy(async () => (await import("../views/schedule/schedule.tsx")).ScheduleView);
const Schedules = lazy(async () => (await import("../views/schedule/schedules.tsx")).SchedulesView);
const Webhooks = lazy(async () => (await import("../views/webhooks.tsx")).WebhooksView);
const Workers = lazy(async () => (await import("../views/workers.tsx")).WorkersView);

export function View({ route, hasBroker }: { route: Route; hasBroker: boolean }): JSX.Element {
  if (route.view === "apps" || !hasBroker) {
    const { app, show } = route.view === "apps" ? route : {};
    return <Apps app={app} show={show} />;
  }
  switch (route.view) {
    case "overview":
      return <OverviewView />;
    case "queue":
      return <Queue key={route.queue} queue={route.queue} tab={route.tab} />;
    case "gates":
      return <Gates key={route.gate} gate={route.gate} />;
    case "jobs":
      return <Find query={route.query} />;
    case "failures":
      return <Failures query={route.query} />;
    case "job":
      return <Job key={route.id} id={route.id} />;
    case "flow":
      return <Flow key={route.id} id={route.id} />;
    case "group":
      return (
        <Group key={`${route.queue}/${route.group}`} queue={route.queue} group={route.group} />
      );
    case "schedules":
      return <Schedules query={route.query} />;
    case "schedule":
      return (
        <Schedule
          key={`${route.queue}/${route.schedule}`}
          queue={route.queue}
          schedule={route.schedule}
        />
      );
    case "workers":
      return <Workers />;
    case "events":
      return <Events query={route.query} />;
    case "keys":
      return <Keys />;
    case "webhooks":
      return <Webhooks />;
    case "audit":
      return <Audit />;
    case "config":
      return <Config />;
    default:
      return <p class="empty">There is nothing at this address.</p>;
  }
}

export function titleOf(route: Route): string {
  switch (route.view) {
    case "overview":
      return "Queues";
    case "queue":
      return route.queue;
    case "job":
      return `Job ${route.id}`;
    case "flow":
      return `Flow of job ${route.id}`;
    case "group":
      return `Group ${route.queue}/${route.group}`;
    case "schedule":
      return `Schedule ${route.schedule}`;
    case "audit":
      return "Audit log";
    default:
      return capital(route.view);
  }
}
