/** Loaded when metrics are first requested: the only file that loads `prom-client`. */
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, type Metric, Registry } from "prom-client";
import type { RequestTimes } from "./request-times.ts";

/** The metrics of one server: of the process, of its requests, and whatever an app adds. */
export function newRegistry(app: FastifyInstance, times: RequestTimes): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(times as unknown as Metric);
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
