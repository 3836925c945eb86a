import type {
  Overview,
  OverviewItem,
  QueueHistory,
  Standing,
  StandingGate,
  StandingReason,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { type History, RANGES, type Range } from "../history/keep-history.ts";
import { SERIES } from "../history/queue-series.ts";
import { OVERVIEW_PAGE_MAX } from "../limits.ts";
import { OVERVIEW_SORTS, type OverviewQuery, readOverview } from "../overview/overview.ts";
import type { RouteContext } from "./context.ts";
import { route } from "./route.ts";
import {
  about,
  answers,
  COUNT,
  choice,
  FLAG,
  limit,
  list,
  MISSING,
  MS,
  maybe,
  NAME,
  NUMBER,
  object,
  type Schema,
  shape,
  TEXT,
  TIME,
} from "./shapes.ts";

const POINTS: Schema = list({ type: ["number", "null"] });

const STANDING_REASONS: readonly StandingReason[] = [
  ...(["paused", "delayed", "dead-letters", "no-workers"] as const),
  ...(["capacity", "gated", "failing", "busy"] as const),
];

const STANDING: Schema = about(
  "Why it does not move, when it has something to do.",
  shape<Standing>({
    reason: choice(STANDING_REASONS),
    until: maybe(about("When the next delayed job is due.", TIME)),
    limit: maybe(about("Of `capacity`: how many may run.", COUNT)),
    gates: maybe(
      list(
        shape<StandingGate>({
          gate: TEXT,
          part: maybe(TEXT),
          until: maybe(TIME),
          note: maybe(TEXT),
          lanes: COUNT,
        }),
      ),
    ),
    gatesTotal: maybe(about("Absent: only that of the oldest job is known.", COUNT)),
  }),
);

const ITEM: Schema = shape<OverviewItem>({
  name: NAME,
  stats: { type: "object" },
  inRate: NUMBER,
  outRate: NUMBER,
  failureRate: NUMBER,
  deadLetters: COUNT,
  dlq: maybe(NAME),
  isDeadLetters: maybe(about("It is the dead letter queue of another.", FLAG)),
  oldestAt: maybe(TIME),
  standing: maybe(STANDING),
  sparks: maybe(object({ waiting: POINTS, in: POINTS, out: POINTS, failures: POINTS })),
});

const OVERVIEW: Schema = shape<Overview>({
  at: TIME,
  tick: { type: "integer", description: "Send it back: lines come when there is a new one." },
  total: COUNT,
  totals: shape<Overview["totals"]>({
    queues: COUNT,
    attention: about("Queues that do not move although they should.", COUNT),
    waiting: COUNT,
    running: COUNT,
    inRate: NUMBER,
    outRate: NUMBER,
  }),
  items: list(ITEM),
  cursor: maybe(TEXT),
  missing: maybe(MISSING),
});

const HISTORY: Schema = shape<QueueHistory>({
  every: MS,
  times: list(TIME),
  series: object(Object.fromEntries(SERIES.map((name) => [name, POINTS]))),
});

export function overviewRoutes(
  app: FastifyInstance,
  context: RouteContext,
  history: History,
): void {
  const all = "Queues with their rates and why they do not move, those that need attention first";
  route<{ Querystring: OverviewQuery }>(app, "GET /v1/overview", {
    about: ["getOverview", "queues", all],
    querystring: object({
      search: { type: "string", maxLength: 255 },
      queue: NAME,
      sort: choice(OVERVIEW_SORTS),
      limit: limit(OVERVIEW_PAGE_MAX),
      cursor: about("Of the last page.", COUNT),
      tick: { type: "integer" },
    }),
    response: answers(OVERVIEW),
    handler: (request) =>
      readOverview(context.broker(request), history.recent, request.query, context.clock),
  });
  route<{ Params: { queue: string }; Querystring: { range?: Range } }>(
    app,
    "GET /v1/queues/:queue/history",
    {
      about: ["getQueueHistory", "queues", "How a queue has done for the last half hour to a day"],
      description:
        "Rates a second and waiting times. Half an hour is since the server was started, a point " +
        "in 5 seconds; six hours (a point a minute) and a day (one in five) are kept over restarts.",
      querystring: object({ range: choice(RANGES) }),
      response: answers(HISTORY),
      handler: async (request) => {
        const { queue } = request.params;
        // Refuses those who may not see it.
        await context.broker(request).queue(queue);
        return history.of(queue, request.query.range);
      },
    },
  );
}
