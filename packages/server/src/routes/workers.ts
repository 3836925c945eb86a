import { allQueues, type WorkerInfo } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { WORKERS_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { route } from "./route.ts";
import { about, answers, COUNT, list, object, WORKER } from "./shapes.ts";

/** Workers of all queues, for users who look for a worker and not for a queue. */
export function workerRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Querystring: { search?: string } }>(app, "GET /v1/workers", {
    about: ["listWorkers", "queues", "Lists the workers of all queues and what they hold."],
    querystring: object({ search: { type: "string", maxLength: 255 } }),
    response: answers(
      object({ items: list(WORKER), total: about("How many match.", COUNT) }, ["items", "total"]),
    ),
    handler: async (request) => {
      const broker = context.broker(request);
      const part = request.query.search?.toLowerCase() ?? "";
      const found: WorkerInfo[] = [];
      for (const { name, stats } of await allQueues(broker, { partial: true })) {
        if (stats.running + stats.freeWorkers === 0) continue;
        for (const worker of await broker.workers(name)) {
          if (`${worker.name}\n${name}`.toLowerCase().includes(part)) found.push(worker);
        }
      }
      found.sort((a, b) => b.running - a.running || (a.name < b.name ? -1 : 1));
      return { items: found.slice(0, WORKERS_MAX), total: found.length };
    },
  });
}
