import {
  JOB_STATES,
  type JobState,
  type JobsOptions,
  type Outcome,
  SluiceError,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { BodyShape } from "../body/parse-body.ts";
import { BATCH_MAX, JOBS_PAGE_MAX, LEASES_BODY_BYTES_MAX } from "../limits.ts";
import type { Encoding } from "../payload.ts";
import type { RouteContext } from "./context.ts";
import { JOB, jobJson, listedJson } from "./job-shape.ts";
import { parseLaneKey } from "./lane-key.ts";
import { searchJobs } from "./search-jobs.ts";
import {
  answers,
  COUNT,
  CURSOR,
  DONE,
  FLAG,
  JOB_PARAMS,
  limit,
  list,
  object,
  QUEUE_PARAMS,
  results,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const KEYS = new BodyShape({ items: "keys" });

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

const WHY: Schema = {
  type: "object",
  description: "In words and data: what keeps the job, and until when.",
  properties: {
    state: TEXT,
    text: TEXT,
    reason: TEXT,
    gate: TEXT,
    part: TEXT,
    until: TIME,
    place: COUNT,
    worker: TEXT,
    at: TIME,
    error: TEXT,
  },
  required: ["state", "text"],
};

const ENTRY = object({ at: TIME, event: TEXT, detail: TEXT }, ["at", "event"]);

export function jobRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Params: { queue: string }; Querystring: BrowseQuery }>({
    method: "GET",
    url: "/v1/queues/:queue/jobs",
    schema: {
      operationId: "listJobs",
      summary: "Browse the jobs of a queue",
      tags: ["jobs"],
      params: QUEUE_PARAMS,
      querystring: object({
        state: { type: "string", enum: JOB_STATES },
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
  explainRoutes(app, context);
  changeRoutes(app, context);
  queueRoutes(app, context);
}

function inspectRoute(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Params: { id: string }; Querystring: JobQuery }>({
    method: "GET",
    url: "/v1/jobs/:id",
    schema: {
      operationId: "getJob",
      summary: "Inspect a job",
      tags: ["jobs"],
      params: JOB_PARAMS,
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

function explainRoutes(app: FastifyInstance, context: RouteContext): void {
  const about = (operationId: string, summary: string, ok: Schema) => ({
    operationId,
    summary,
    tags: ["jobs"],
    params: JOB_PARAMS,
    response: answers(ok),
  });
  app.route<{ Params: { id: string } }>({
    method: "GET",
    url: "/v1/jobs/:id/why",
    schema: about("whyJob", "Why a job is not running", WHY),
    handler: (request) => context.broker(request).why(request.params.id),
  });
  app.route<{ Params: { id: string } }>({
    method: "GET",
    url: "/v1/jobs/:id/history",
    schema: about("jobHistory", "A job's life as a timeline", object({ history: list(ENTRY) })),
    handler: async (request) => ({
      history: await context.broker(request).history(request.params.id),
    }),
  });
}

function queueRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Params: { id: string } }>({
    method: "GET",
    url: "/v1/jobs/:id/queue",
    schema: {
      operationId: "getQueueOfJob",
      summary: "The queue that a job is in",
      tags: ["jobs"],
      params: JOB_PARAMS,
      response: answers(object({ queue: TEXT }, ["queue"])),
    },
    handler: async (request) => {
      const { id } = request.params;
      const [queue] = await context.broker(request).queuesOf([id]);
      if (queue !== undefined) return { queue };
      throw new SluiceError("JOB_NOT_FOUND", `there is no job ${id}`, { field: "id", value: id });
    },
  });
  app.route<{ Params: { queue: string }; Body: { keys: readonly string[] } }>({
    method: "POST",
    url: "/v1/queues/:queue/cancel",
    bodyLimit: LEASES_BODY_BYTES_MAX,
    config: { body: KEYS },
    schema: {
      operationId: "cancelByKey",
      summary: "Cancel the jobs that hold these dedupe keys",
      tags: ["jobs"],
      params: QUEUE_PARAMS,
      body: object({ keys: list(TEXT, { maxItems: BATCH_MAX }) }, ["keys"]),
      response: answers(
        results({ cancelled: { ...FLAG, description: "False: no job holds the key." } }),
      ),
    },
    handler: async (request) => {
      const { queue } = request.params;
      const outcomes = await context.broker(request).cancelByKey(queue, request.body.keys);
      return {
        results: outcomes.map(({ ok, error }) =>
          error === undefined ? { cancelled: ok } : { error },
        ),
      };
    },
  });
}

function changeRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<{ Params: { id: string } }>({
    method: "POST",
    url: "/v1/jobs/:id/retry",
    schema: {
      operationId: "retryJob",
      summary: "Run an ended job again, or a delayed one at once",
      tags: ["jobs"],
      params: JOB_PARAMS,
      response: DONE,
    },
    handler: async (request, reply) => {
      accept((await context.broker(request).retry([request.params.id]))[0]);
      return reply.code(204).send();
    },
  });
  app.route<{ Params: { id: string } }>({
    method: "DELETE",
    url: "/v1/jobs/:id",
    schema: {
      operationId: "cancelJob",
      summary: "Cancel a job",
      tags: ["jobs"],
      params: JOB_PARAMS,
      response: answers(
        object({ cancelled: { ...FLAG, description: "False: it had ended." } }, ["cancelled"]),
      ),
    },
    handler: async (request) => ({
      cancelled: accept((await context.broker(request).cancel([request.params.id]))[0]),
    }),
  });
}

/** The answer for the one item that was asked about. */
function accept<T>(outcome: Outcome<T> | undefined): T {
  if (outcome?.error !== undefined) throw SluiceError.fromJSON(outcome.error);
  return outcome!.ok!;
}
