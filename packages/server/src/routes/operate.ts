import type { FastifyInstance } from "fastify";
import { BATCH_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { answers, COUNT, DONE, list, object, QUEUE_PARAMS, TEXT } from "./shapes.ts";

interface OnQueue {
  Params: { queue: string };
}

interface RedriveBody {
  count?: number;
  ids?: readonly string[];
}

/** What operators do with a queue. */
export function operateRoutes(app: FastifyInstance, context: RouteContext): void {
  const schemaOf = (operationId: string, summary: string) => ({
    operationId,
    summary,
    tags: ["queues"],
    params: QUEUE_PARAMS,
    response: DONE,
  });
  for (const paused of [true, false]) {
    const verb = paused ? "pause" : "resume";
    const summary = paused ? "No job goes out any more" : "Jobs go out again";
    app.route<OnQueue>({
      method: "POST",
      url: `/v1/queues/:queue/${verb}`,
      schema: schemaOf(`${verb}Queue`, summary),
      handler: async (request, reply) => {
        const broker = context.broker(request);
        // Changing a queue makes it when it is not there, which is not what is meant here.
        await broker.queue(request.params.queue);
        await broker.setQueue(request.params.queue, { paused });
        return reply.code(204).send();
      },
    });
  }
  app.route<OnQueue>({
    method: "POST",
    url: "/v1/queues/:queue/purge",
    schema: schemaOf("purgeQueue", "Remove what waits or is delayed"),
    handler: async (request, reply) => {
      await context.broker(request).purge(request.params.queue);
      return reply.code(204).send();
    },
  });
  app.route<OnQueue & { Body: RedriveBody | null | undefined }>({
    method: "POST",
    url: "/v1/queues/:queue/redrive",
    schema: {
      operationId: "redriveQueue",
      summary: "Put dead letters back where they came from, oldest first or by id",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      body: {
        ...object({ count: { ...COUNT, minimum: 1 }, ids: list(TEXT, { maxItems: BATCH_MAX }) }),
        type: ["object", "null"],
      },
      response: answers(object({ redriven: COUNT }, ["redriven"])),
    },
    handler: async (request) => ({
      redriven: await context.broker(request).redrive(request.params.queue, request.body ?? {}),
    }),
  });
}
