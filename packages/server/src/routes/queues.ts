import type { FastifyInstance } from "fastify";
import { PAGE_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { route } from "./route.ts";
import { answers, CURSOR, DONE, limit, list, MISSING, object, QUEUE, TEXT } from "./shapes.ts";

const SWITCHES = {
  pause: "Stops a queue: no job is handed out.",
  resume: "Lets a queue hand out jobs again.",
};

/** The list of queues, which in a cluster may lack some, and the switches of one. */
export function queueRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Querystring: { limit?: number; cursor?: string } }>(app, "queues", {
    querystring: object({ limit: limit(PAGE_MAX), cursor: CURSOR }),
    response: answers(object({ items: list(QUEUE), cursor: TEXT, missing: MISSING }, ["items"])),
    handler: async (request) => {
      const broker = context.broker(request);
      const [page, missing] = await Promise.all([
        broker.queues({ ...request.query, partial: true }),
        context.missing(),
      ]);
      return missing === undefined ? page : { ...page, missing };
    },
  });
  for (const [verb, says] of Object.entries(SWITCHES)) {
    route<{ Params: { queue: string } }>(app, `POST /v1/queues/:queue/${verb}`, {
      about: [`${verb}Queue`, "queue", says],
      response: DONE,
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
}
