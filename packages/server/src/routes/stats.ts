import type { FastifyInstance } from "fastify";
import type { RouteContext } from "./context.ts";
import {
  answers,
  COUNT,
  FLAG,
  list,
  MISSING,
  MS,
  object,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const TIMES: Schema = object({
  counts: list(COUNT, { description: "How many took up to 2^i ms; the last has no end." }),
  sumMs: MS,
});

const SCRIPT: Schema = object({
  runs: COUNT,
  failures: object({ error: COUNT, killed: COUNT, timeout: COUNT }),
  times: TIMES,
  isOpen: { ...FLAG, description: "It is not asked at present." },
});

const QUEUE_TIMES: Schema = object({
  name: TEXT,
  wait: TIMES,
  run: TIMES,
  oldest: object({ id: TEXT, addedAt: TIME }),
  nextDueAt: TIME,
  script: SCRIPT,
});

const STATS: Schema = {
  type: "object",
  properties: {
    payloadBytes: COUNT,
    liveBytes: COUNT,
    logBytes: COUNT,
    unsyncedBytes: COUNT,
    unsyncedMs: MS,
    overdueMs: MS,
    adds: TIMES,
    queues: list(QUEUE_TIMES),
    missing: MISSING,
  },
};

export function statsRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Querystring: { queues?: string; oldest?: boolean } }>({
    method: "GET",
    url: "/v1/stats",
    schema: {
      operationId: "getStats",
      summary: "How the broker is doing, with the times of the queues that are named",
      tags: ["queues"],
      querystring: object({
        queues: { ...TEXT, maxLength: 8192, description: "Names with commas between them." },
        oldest: { ...FLAG, description: "With the oldest job of each: looks at every job." },
      }),
      response: answers(STATS),
    },
    handler: async (request) => {
      const { queues = "", oldest = false } = request.query;
      const names = queues.split(",").filter((name) => name !== "");
      return context.broker(request).stats({ queues: names, oldest });
    },
  });
}
