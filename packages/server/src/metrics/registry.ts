/** Loaded when metrics are first requested: the only file that loads `prom-client`. */
import type { FastifyInstance } from "fastify";
import { type Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from "prom-client";
import type { RequestTimes } from "./request-times.ts";

/** The metrics of one server: of the process, of its requests, and whatever an app adds. */
export function newRegistry(app: FastifyInstance, times: RequestTimes): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  countCpuBefore(registry);
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

/** The process has run before its metrics were first requested: its counters begin at its start. */
function countCpuBefore(registry: Registry): void {
  const { user, system } = process.cpuUsage();
  const micros = { user_: user, system_: system, "": user + system };
  for (const [part, value] of Object.entries(micros)) {
    const counter = registry.getSingleMetric(`process_cpu_${part}seconds_total`);
    (counter as Counter | undefined)?.inc(value / 1e6);
  }
}
