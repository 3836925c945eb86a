/** Everything that a broker is asked over HTTP, in a server and in a page that is mounted alike. */
import { allQueues } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import type { AppPage } from "./app-page.ts";
import type { AuditLog } from "./audit/audit-log.ts";
import { callerOf } from "./audit/caller.ts";
import type { BrokerAccess } from "./broker-access.ts";
import type { ClusterDoor } from "./cluster-door.ts";
import { healthRoutes } from "./health.ts";
import { keepHistory } from "./history/keep-history.ts";
import { ANYONE } from "./keys/principal.ts";
import { readBroker } from "./metrics/broker-metrics.ts";
import { readCluster } from "./metrics/cluster-metrics.ts";
import { metricRoutes } from "./metrics/metrics.ts";
import { Readings } from "./metrics/reading.ts";
import { RequestTimes } from "./metrics/request-times.ts";
import { describe } from "./openapi.ts";
import { addRoutes } from "./routes/add.ts";
import { appRoutes } from "./routes/apps.ts";
import { auditRoutes } from "./routes/audit.ts";
import { callRoutes } from "./routes/calls.ts";
import { clusterRoutes } from "./routes/cluster.ts";
import { type RouteContext, withEntry } from "./routes/context.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { endRoutes } from "./routes/ends.ts";
import { eventRoutes } from "./routes/events.ts";
import { flowGraphRoutes, flowRoutes } from "./routes/flows.ts";
import { heldRoutes } from "./routes/held.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { keyRoutes } from "./routes/keys.ts";
import { leaseRoutes } from "./routes/leases.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { pulseRoutes } from "./routes/pulse.ts";
import { queueRoutes } from "./routes/queues.ts";
import { sessionRoutes } from "./routes/session.ts";
import { storeRoutes } from "./routes/stores.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { workerRoutes } from "./routes/workers.ts";
import type { TlsOptions } from "./shell/listener.ts";
import type { Shell } from "./shell/shell.ts";
import type { OpenWebhookSender } from "./webhooks/sender.ts";
import { EventWebhooks } from "./webhooks/webhooks.ts";

interface BrokerRoutesOptions {
  pages?: readonly AppPage[] | undefined;
  cluster?: ClusterDoor | undefined;
  tls?: TlsOptions | undefined;
  /** Whether callers are users of another server, known by their names. */
  hasUsers?: boolean;
  audit: AuditLog;
  /** Why not all connections are served. */
  trouble?: () => string | undefined;
  webhooks?: OpenWebhookSender | undefined;
}

const ROUTES = [
  callRoutes,
  queueRoutes,
  addRoutes,
  flowRoutes,
  flowGraphRoutes,
  jobRoutes,
  endRoutes,
  leaseRoutes,
  heldRoutes,
  storeRoutes,
  keyRoutes,
  eventRoutes,
  workerRoutes,
  webhookRoutes,
  auditRoutes,
];

/** Adds all routes of a broker to a server, the dashboard and its files included. */
export function brokerRoutes(
  shell: Shell,
  access: BrokerAccess,
  options: BrokerRoutesOptions,
): void {
  const { pages = [], cluster, tls, hasUsers = false, audit } = options;
  const { app, closing, limits, clock } = shell;
  const description = "Jobs that go out when they can run: fair between tenants, aware of limits.";
  describe(app, { title: "Sluice", description });
  const context: RouteContext = {
    broker: (request) => {
      const { principal, method } = request;
      if (method === "GET") return access.guarded(principal);
      return access.guarded(principal, {
        audit: { log: audit, caller: callerOf(request, hasUsers) },
      });
    },
    audit: { log: audit, caller: (request) => callerOf(request, hasUsers) },
    missing: async () => (await access.ready().stats()).missing,
    keys: () => access.keys(),
    webhooks: openWebhooks(shell, access, options.webhooks),
    limits,
    clock,
    closing,
  };
  app.addHook("onClose", () => audit.close());
  for (const addRoutesTo of ROUTES) addRoutesTo(app, context);
  const history = keepHistory(() => access.ready(), clock, closing);
  overviewRoutes(app, context, history);
  const look = async () => allQueues(access.ready(), { partial: true });
  pulseRoutes(app, { look, clock, readersMax: limits.eventStreamsMax, closing });
  sessionRoutes(app, {
    hasKeys: access.hasKeys,
    hasBroker: true,
    isTls: tls !== undefined,
    hasUsers,
    hasWebhooks: options.webhooks !== undefined,
  });
  dashboardRoutes(app);
  appRoutes(app, pages, (request, told, act) => withEntry(context, request, told, act));
  clusterRoutes(app, cluster, closing);
  healthRoutes(app, async () => {
    const text = options.trouble?.();
    return text === undefined ? access.readiness() : { isReady: false, text };
  });
  brokerMetrics(app, access, cluster);
}

function brokerMetrics(
  app: FastifyInstance,
  access: BrokerAccess,
  cluster: ClusterDoor | undefined,
): void {
  const times = RequestTimes.of(app);
  let readings: Readings | undefined;
  metricRoutes(app, async () => {
    const { newRegistry } = await import("./metrics/registry.ts");
    readings ??= new Readings(newRegistry(app, times));
    readings.clear();
    const all = access.ready();
    if (cluster !== undefined) readCluster(cluster.status(), readings);
    await readBroker(cluster?.ownBroker() ?? all, readings);
    return readings.registry;
  });
}

function openWebhooks(
  { app, clock, closing, log }: Shell,
  access: BrokerAccess,
  open: OpenWebhookSender | undefined,
): EventWebhooks {
  const broker = access.opened();
  broker.catch(() => {});
  const onTrouble = (message: string): void => log.warn(message);
  const holder = (key: string) => (access.hasKeys ? access.keys().holder(key) : ANYONE);
  const webhooks = new EventWebhooks({ broker, clock, open, closing, holder, onTrouble });
  app.addHook("onClose", () => webhooks.close());
  return webhooks;
}
