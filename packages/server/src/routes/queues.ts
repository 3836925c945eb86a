import type { FastifyInstance } from "fastify";
import { PAGE_MAX } from "../limits.ts";
import { described } from "./call-description.ts";
import type { RouteContext } from "./context.ts";
import {
  answers,
  CURSOR,
  DONE,
  limit,
  list,
  MISSING,
  object,
  QUEUE,
  QUEUE_PARAMS,
  TEXT,
} from "./shapes.ts";

/** The list of queues, which in a cluster may lack some, and the switches of one. */
export function queueRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Querystring: { limit?: number; cursor?: string } }>({
    method: "GET",
    url: "/v1/queues",
    schema: {
      ...described("queues"),
      querystring: object({ limit: limit(PAGE_MAX), cursor: CURSOR }),
      response: answers(object({ items: list(QUEUE), cursor: TEXT, missing: MISSING }, ["items"])),
    },
    handler: async (request) => {
      const broker = context.broker(request);
      const [page, missing] = await Promise.all([
        broker.queues({ ...request.query, partial: true }),
        context.missing(),
      ]);
      return missing === undefined ? page : { ...page, missing };
    },
  });
  pauseRoute(app, context, "pause", "Stops a queue: no job is handed out.");
  pauseRoute(app, context, "resume", "Lets a queue hand out jobs again.");
}

function pauseRoute(
  app: FastifyInstance,
  context: RouteContext,
  verb: "pause" | "resume",
  summary: string,
): void {
  app.route<{ Params: { queue: string } }>({
    method: "POST",
    url: `/v1/queues/:queue/${verb}`,
    schema: {
      operationId: `${verb}Queue`,
      summary,
      tags: ["queue"],
      params: QUEUE_PARAMS,
      response: DONE,
    },
    handler: async (request, reply) => {
      const broker = context.broker(request);
      const { queue } = request.params;
      // Changing a queue makes it when it is not there, which is not what is meant here.
      await broker.queue(queue);
      await broker.setQueue(queue, { paused: verb === "pause" });
      return reply.code(204).send();
    },
  });
}
