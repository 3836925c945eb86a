import type { QueueOptions } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { MEMBERS } from "../body/parse-body.ts";
import { PAGE_MAX, QUEUE_BODY_BYTES_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { QUEUE, QUEUE_OPTIONS } from "./queue-shape.ts";
import {
  answers,
  COUNT,
  CURSOR,
  limit,
  list,
  MISSING,
  object,
  QUEUE_PARAMS,
  TEXT,
} from "./shapes.ts";

interface OnQueue {
  Params: { queue: string };
}

export function queueRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<OnQueue & { Body: QueueOptions }>({
    method: "PUT",
    url: "/v1/queues/:queue",
    config: { body: MEMBERS },
    bodyLimit: QUEUE_BODY_BYTES_MAX,
    schema: {
      operationId: "setQueue",
      summary: "Make a queue, or change one in place",
      description: "Its jobs stay, and what is not mentioned keeps its value.",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      body: QUEUE_OPTIONS,
      response: answers(QUEUE),
    },
    handler: (request) => context.broker(request).setQueue(request.params.queue, request.body),
  });
  app.route<OnQueue>({
    method: "GET",
    url: "/v1/queues/:queue",
    schema: {
      operationId: "getQueue",
      summary: "A queue, its options and its figures",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      response: answers(QUEUE),
    },
    handler: (request) => context.broker(request).queue(request.params.queue),
  });
  app.route<OnQueue & { Querystring: { deadLetters?: "keep" | "delete" } }>({
    method: "DELETE",
    url: "/v1/queues/:queue",
    schema: {
      operationId: "deleteQueue",
      summary: "Delete a queue and all that is in it, for good",
      description: "Its dead letters in other queues stay, unless deadLetters is delete.",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      querystring: object({ deadLetters: { type: "string", enum: ["keep", "delete"] } }),
      response: answers(
        object({ lettersKept: COUNT, lettersDeleted: COUNT }, ["lettersKept", "lettersDeleted"]),
      ),
    },
    handler: (request) => context.broker(request).deleteQueue(request.params.queue, request.query),
  });
  app.route<{ Querystring: { limit?: number; cursor?: string } }>({
    method: "GET",
    url: "/v1/queues",
    schema: {
      operationId: "listQueues",
      summary: "A page of the queues, by name",
      tags: ["queues"],
      querystring: object({ limit: limit(PAGE_MAX), cursor: CURSOR }),
      response: answers(
        object({ queues: list(QUEUE), cursor: TEXT, missing: MISSING }, ["queues"]),
      ),
    },
    handler: async (request) => {
      const broker = context.broker(request);
      const [{ items: queues, ...rest }, missing] = await Promise.all([
        broker.queues({ ...request.query, partial: true }),
        context.missing(),
      ]);
      return missing === undefined ? { queues, ...rest } : { queues, ...rest, missing };
    },
  });
}
