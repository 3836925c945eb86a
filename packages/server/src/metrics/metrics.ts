import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { forbidden } from "../keys/grant.ts";
import { route } from "../routes/route.ts";
import { content } from "../routes/shapes.ts";

/** Seconds that requests take, from a cached answer to a long poll. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics of one server: of the process, of its requests, and whatever an app adds. */
export function newRegistry(app: FastifyInstance): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const seconds = new Histogram({
    name: "http_request_seconds",
    help: "Time to answer, by route and status",
    labelNames: ["method", "route", "status"],
    buckets: BUCKETS,
    registers: [registry],
  });
  app.addHook("onResponse", async (request, reply) => {
    // The route as it was declared: addresses are without number.
    const route = request.routeOptions.url ?? "none";
    const labels = { method: knownMethod(request.method), route, status: reply.statusCode };
    seconds.observe(labels, reply.elapsedTime / 1000);
  });
  new Gauge({
    name: "http_connections",
    help: "Open connections",
    registers: [registry],
    collect() {
      return new Promise((resolve) => {
        app.server.getConnections((_, count) => {
          this.set(count ?? 0);
          resolve();
        });
      });
    },
  });
  return registry;
}

const METHODS = ["GET", "PUT", "POST", "DELETE"];

function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : "other";
}

/** `refresh` is called before each answer; calls that come while one is made share it. */
export function metricRoutes(
  app: FastifyInstance,
  registry: Registry,
  refresh: () => Promise<void>,
): void {
  let answer: Promise<string> | undefined;
  const read = async (): Promise<string> => {
    await refresh();
    return registry.metrics();
  };
  route(app, "GET /metrics", {
    about: ["getMetrics", "health", "Figures for Prometheus"],
    response: content("text/plain", "In the text format of Prometheus."),
    handler: async ({ principal }, reply) => {
      // They name queues and lanes: only for callers that may see all of them.
      if (!principal.grants().some(({ on }) => on === "*")) throw forbidden("consume", "*");
      answer ??= read().finally(() => {
        answer = undefined;
      });
      return reply.type(registry.contentType).send(await answer);
    },
  });
}
