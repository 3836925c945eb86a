import { type JobState, type JobsOptions, parseLaneKey } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { JOBS_PAGE_MAX } from "../limits.ts";
import type { Encoding } from "../payload.ts";
import type { RouteContext } from "./context.ts";
import { jobJson, listedJson } from "./job-json.ts";
import { route } from "./route.ts";
import { searchJobs } from "./search-jobs.ts";
import {
  about,
  answers,
  COUNT,
  CURSOR,
  ENCODING,
  JOB,
  JOB_STATE,
  limit,
  list,
  object,
  type Schema,
  TEXT,
} from "./shapes.ts";

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

const QUERY: Schema = object({
  state: JOB_STATE,
  lane: about("A fairness key; a path as a JSON list of texts.", TEXT),
  search: {
    type: "string",
    minLength: 1,
    maxLength: 1024,
    description: "Part of the id, lane, worker, group, error, a header or the payload.",
  },
  worker: { type: "string", maxLength: 1024 },
  limit: limit(JOBS_PAGE_MAX),
  cursor: CURSOR,
});

const FOUND: Schema = object(
  {
    items: list(JOB),
    cursor: about("A search may have one before it has found much.", TEXT),
    looked: about("Jobs that a search has looked at.", COUNT),
  },
  ["items"],
);

export function jobRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Params: { queue: string }; Querystring: BrowseQuery }>(app, "jobs", {
    querystring: QUERY,
    response: answers(FOUND),
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
  const start = "Of a payload or result that is longer, only how it begins.";
  route<{ Params: { id: string }; Querystring: JobQuery }>(app, "job", {
    querystring: object({ encoding: ENCODING, bytesMax: about(start, COUNT) }),
    response: answers(JOB),
    handler: async (request) => {
      const job = await context.broker(request).job(request.params.id);
      return jobJson(job, request.query);
    },
  });
}
