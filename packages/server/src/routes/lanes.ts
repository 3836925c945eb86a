import type { LanesOptions } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { PAGE_MAX } from "../limits.ts";
import type { RouteContext } from "./context.ts";
import { parseLaneKey } from "./lane-key.ts";
import {
  answers,
  COUNT,
  CURSOR,
  DONE,
  FAIRNESS_KEY,
  limit,
  list,
  NAME,
  NUMBER,
  object,
  page,
  QUEUE_PARAMS,
  type Schema,
  TEXT,
} from "./shapes.ts";

const SHARE: Schema = { type: "number", minimum: 0, maximum: 1 };

const LANE: Schema = object({
  key: FAIRNESS_KEY,
  tier: COUNT,
  weight: NUMBER,
  waiting: COUNT,
  running: COUNT,
  received: NUMBER,
  shareOwed: { ...SHARE, description: "By its weight, among the lanes of its tier that wait." },
  shareReceived: { ...SHARE, description: "Of all that the lanes of its tier have received." },
});

const WORKER: Schema = object({ name: TEXT, queue: NAME, free: COUNT, running: COUNT });

interface OnQueue {
  Params: { queue: string };
}

export function laneRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<OnQueue & { Querystring: LanesOptions }>({
    method: "GET",
    url: "/v1/queues/:queue/lanes",
    schema: {
      operationId: "listLanes",
      summary: "Lanes, with the share they are owed and the share they received",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      querystring: object({
        search: { type: "string", maxLength: 1024 },
        sort: { type: "string", enum: ["waiting", "running", "received", "weight"] },
        limit: limit(PAGE_MAX),
        cursor: CURSOR,
      }),
      response: answers(page(LANE)),
    },
    handler: (request) => context.broker(request).lanes(request.params.queue, request.query),
  });
  app.route<{ Params: { queue: string; key: string }; Body: { weight: number } }>({
    method: "PUT",
    url: "/v1/queues/:queue/lanes/:key",
    schema: {
      operationId: "setLaneWeight",
      summary: "Change the weight of a lane",
      description: "The key as it is, or as JSON: a list of texts is a path.",
      tags: ["queues"],
      params: object({ queue: NAME, key: TEXT }, ["queue", "key"]),
      body: object({ weight: { type: "integer", minimum: 1 } }, ["weight"]),
      response: DONE,
    },
    handler: async (request, reply) => {
      const { queue, key } = request.params;
      await context.broker(request).setLaneWeight(queue, parseLaneKey(key), request.body.weight);
      return reply.code(204).send();
    },
  });
  app.route<OnQueue>({
    method: "GET",
    url: "/v1/queues/:queue/workers",
    schema: {
      operationId: "listWorkers",
      summary: "Who works for a queue, and what they hold",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      response: answers(object({ workers: list(WORKER) }, ["workers"])),
    },
    handler: async (request) => ({
      workers: await context.broker(request).workers(request.params.queue),
    }),
  });
}
