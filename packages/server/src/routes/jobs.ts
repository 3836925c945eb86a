import { type JobState, type JobsOptions, parseLaneKey } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { JOBS_PAGE_MAX } from "../limits.ts";
import type { Encoding } from "../payload.ts";
import { described } from "./call-description.ts";
import type { RouteContext } from "./context.ts";
import { jobJson, listedJson } from "./job-json.ts";
import { searchJobs } from "./search-jobs.ts";
import { answers, COUNT, CURSOR, JOB, JOB_STATE, limit, list, object, TEXT } from "./shapes.ts";

interface BrowseQuery {
  state?: JobState;
  lane?: string;
  search?: string;
  worker?: string;
  limit?: number;
  cursor?: string;
}

interface JobQuery {
  encoding?: Encoding;
  bytesMax?: number;
}

export function jobRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Params: { queue: string }; Querystring: BrowseQuery }>({
    method: "GET",
    url: "/v1/queues/:queue/jobs",
    schema: {
      ...described("jobs"),
      querystring: object({
        state: JOB_STATE,
        lane: { type: "string", description: "A fairness key; a path as a JSON list of texts." },
        search: {
          type: "string",
          minLength: 1,
          maxLength: 1024,
          description: "Part of the id, lane, worker, group, error, a header or the payload.",
        },
        worker: { type: "string", maxLength: 1024 },
        limit: limit(JOBS_PAGE_MAX),
        cursor: CURSOR,
      }),
      response: answers(
        object(
          {
            items: list(JOB),
            cursor: { ...TEXT, description: "A search may have one before it has found much." },
            looked: { ...COUNT, description: "Jobs that a search has looked at." },
          },
          ["items"],
        ),
      ),
    },
    handler: async (request) => {
      const { lane, limit: most = JOBS_PAGE_MAX / 2, search, worker, ...rest } = request.query;
      const options: JobsOptions & { limit: number } = { ...rest, limit: most };
      if (lane !== undefined) options.lane = parseLaneKey(lane);
      const broker = context.broker(request);
      const { queue } = request.params;
      const found =
        search === undefined && worker === undefined
          ? await broker.jobs(queue, options)
          : await searchJobs(broker, queue, { ...options, search, worker });
      return { ...found, items: found.items.map(listedJson) };
    },
  });
  inspectRoute(app, context);
}

function inspectRoute(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Params: { id: string }; Querystring: JobQuery }>({
    method: "GET",
    url: "/v1/jobs/:id",
    schema: {
      ...described("job"),
      querystring: object({
        encoding: { type: "string", enum: ["auto", "base64"] },
        bytesMax: {
          ...COUNT,
          description: "Of a payload or result that is longer, only how it begins.",
        },
      }),
      response: answers(JOB),
    },
    handler: async (request) => {
      const job = await context.broker(request).job(request.params.id);
      return jobJson(job, request.query);
    },
  });
}
