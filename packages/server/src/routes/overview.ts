import type { FastifyInstance } from "fastify";
import type { QueueHistories } from "../history/queue-histories.ts";
import { SERIES } from "../history/queue-series.ts";
import { OVERVIEW_PAGE_MAX } from "../limits.ts";
import { OVERVIEW_SORTS, type OverviewQuery, readOverview } from "../overview/overview.ts";
import type { RouteContext } from "./context.ts";
import {
  answers,
  COUNT,
  limit,
  list,
  MISSING,
  MS,
  NAME,
  NUMBER,
  object,
  QUEUE_PARAMS,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const POINTS: Schema = list({ type: ["number", "null"] });

const STANDING_REASONS = [
  ...["paused", "delayed", "dead-letters", "no-workers"],
  ...["capacity", "gated", "failing", "busy"],
];

const STANDING: Schema = {
  ...object(
    {
      reason: {
        type: "string",
        enum: STANDING_REASONS,
      },
      until: { ...TIME, description: "When the next delayed job is due." },
      limit: { ...COUNT, description: "Of `capacity`: how many may run." },
      gates: list(
        object({ gate: TEXT, part: TEXT, until: TIME, note: TEXT, lanes: COUNT }, ["gate"]),
      ),
      gatesTotal: { ...COUNT, description: "Absent: only that of the oldest job is known." },
    },
    ["reason"],
  ),
  description: "Why it stands still, when it does.",
};

const ITEM: Schema = object(
  {
    name: NAME,
    stats: { type: "object" },
    inRate: NUMBER,
    outRate: NUMBER,
    failureRate: NUMBER,
    deadLetters: COUNT,
    dlq: NAME,
    isDeadLetters: { type: "boolean", description: "It is the dead letter queue of another." },
    oldestAt: TIME,
    standing: STANDING,
    sparks: object({ waiting: POINTS, in: POINTS, out: POINTS, failures: POINTS }),
  },
  ["name", "stats"],
);

const OVERVIEW: Schema = object(
  {
    at: TIME,
    tick: { type: "integer", description: "Send it back: lines come when there is a new one." },
    total: COUNT,
    totals: object({
      queues: COUNT,
      waiting: COUNT,
      running: COUNT,
      inRate: NUMBER,
      outRate: NUMBER,
    }),
    items: list(ITEM),
    cursor: TEXT,
    missing: MISSING,
  },
  ["at", "tick", "total", "items"],
);

const HISTORY: Schema = object({
  everyMs: MS,
  times: list(TIME),
  series: object(Object.fromEntries(SERIES.map((name) => [name, POINTS]))),
});

export function overviewRoutes(
  app: FastifyInstance,
  context: RouteContext,
  history: QueueHistories,
): void {
  app.route<{ Querystring: OverviewQuery }>({
    method: "GET",
    url: "/v1/overview",
    schema: {
      operationId: "getOverview",
      summary: "Queues with their rates and why they do not move, those that need attention first",
      tags: ["queues"],
      querystring: object({
        search: { type: "string", maxLength: 255 },
        queue: NAME,
        sort: { type: "string", enum: OVERVIEW_SORTS },
        limit: limit(OVERVIEW_PAGE_MAX),
        cursor: { ...COUNT, description: "Of the last page." },
        tick: { type: "integer" },
      }),
      response: answers(OVERVIEW),
    },
    handler: (request) => readOverview(context.broker(request), history, request.query),
  });
  app.route<{ Params: { queue: string } }>({
    method: "GET",
    url: "/v1/queues/:queue/history",
    schema: {
      operationId: "getQueueHistory",
      summary: "How a queue has done for the last half hour",
      description: "Rates a second and waiting times, since the server was started.",
      tags: ["queues"],
      params: QUEUE_PARAMS,
      response: answers(HISTORY),
    },
    handler: async (request) => {
      const { queue } = request.params;
      // Refuses those who may not see it.
      await context.broker(request).queue(queue);
      return history.of(queue);
    },
  });
}
