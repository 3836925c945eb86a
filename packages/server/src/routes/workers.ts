import { allWorkers } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { WORKERS_HELD_JOBS_MAX, WORKERS_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { route } from "./route.ts";
import { about, answers, COUNT, list, object, WORKER } from "./shapes.ts";

const JOBS = {
  type: "integer",
  minimum: 0,
  maximum: WORKERS_HELD_JOBS_MAX,
  description: "Jobs listed for each, those first that it has held longest; default none.",
};

/** Workers of all queues, for users who look for a worker and not for a queue. */
export function workerRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Querystring: { search?: string; jobs?: number } }>(app, "GET /v1/workers", {
    about: ["listWorkers", "queues", "Lists the workers of all queues and what they hold."],
    querystring: object({ search: { type: "string", maxLength: 255 }, jobs: JOBS }),
    response: answers(
      object({ items: list(WORKER), total: about("How many match.", COUNT) }, ["items", "total"]),
    ),
    handler: async (request) => {
      const { search = "", jobs = 0 } = request.query;
      const options = { search, partial: true, ...(jobs === 0 ? {} : { jobs }) };
      const found = await allWorkers(context.broker(request), options);
      return { items: found.slice(0, WORKERS_MAX), total: found.length };
    },
  });
}
