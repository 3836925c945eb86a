/** The server's HTTP: what it answers, also when a job ends without a result. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { SluiceError } from "sluice";
import type { HttpApp } from "sluice/http";
import { EventStreams } from "./event-stream.ts";
import { STATUSES } from "./job-list.ts";
import type { JobResult, JobServer } from "./job-server.ts";
import { BODY_BYTES_MAX, LIST_LIMIT_MAX, WAIT_SECONDS_MAX, WORKER_ID_BYTES_MAX } from "./limits.ts";
import type { Status } from "./status.ts";
import { parseWorkerId } from "./submission.ts";
import type { SubmitterKey } from "./submitter-keys.ts";

interface OfJob {
  Params: { uid: string };
}

interface OfResult extends OfJob {
  Querystring: { wait_seconds?: number };
}

interface OfList {
  Querystring: {
    worker_id?: string;
    status?: Status;
    since?: string;
    until?: string;
    limit?: number;
    cursor?: string;
  };
}

export function routes(app: HttpApp, server: JobServer, closing: AbortSignal): void {
  const submission = { schema: about("addJob", "Submit a job"), bodyLimit: BODY_BYTES_MAX };
  app.post("/job/add", submission, async (request, reply) => {
    return reply.code(201).send(await server.add(request.body, boundOf(request, server)));
  });
  app.get<OfJob>(
    "/job/status/:uid",
    { schema: about("getJobStatus", "The status of a job") },
    (request, reply) =>
      orGone(reply, () => server.status(request.params.uid, boundOf(request, server))),
  );
  app.get<OfResult>(
    "/job/result/:uid",
    { schema: { ...about("getJobResult", "A job's result"), querystring: WAIT } },
    (request, reply) => orGone(reply, () => resultOf(request, reply, { server, closing })),
  );
  app.delete<OfJob>("/job/:uid", { schema: about("cancelJob", "Cancel a job") }, (request, reply) =>
    orGone(reply, async () => {
      const { uid } = request.params;
      return { uid, cancelled: await server.cancel(uid, boundOf(request, server)) };
    }),
  );
  app.get<OfList>(
    "/job/list",
    { schema: { ...about("listJobs", "Jobs, the latest first"), querystring: FILTER } },
    (request) => {
      const { worker_id, since, until, ...rest } = request.query;
      const name = parseWorkerId(worker_id, boundOf(request, server));
      const times = { since: timeOf("since", since), until: timeOf("until", until) };
      return server.jobs({ ...rest, ...times, worker_id: name });
    },
  );
  app.get<{ Querystring: { worker_id?: string } }>(
    "/job/callback-secret",
    {
      schema: {
        ...about("getCallbackSecret", "What callbacks are signed with"),
        querystring: NAME,
      },
    },
    (request) => {
      const name = parseWorkerId(request.query.worker_id, boundOf(request, server));
      return { worker_id: name ?? null, secret: server.callbackSecret(name ?? "") };
    },
  );
  const streams = new EventStreams(server);
  app.get<{ Querystring: { worker_id?: string } }>(
    "/job/events",
    { schema: { ...about("streamJobs", "Server-sent events of jobs"), querystring: NAME } },
    async (request, reply) => {
      const bound = boundOf(request, server);
      const name = parseWorkerId(request.query.worker_id, bound);
      streams.check();
      reply.hijack();
      await streams.serve(reply.raw, { workerId: name, over: overOf(bound, server, closing) });
    },
  );
  app.get(
    "/job/queue/stats",
    { schema: about("getQueueStats", "Depths and counts") },
    (request) => {
      refuseBound(boundOf(request, server));
      return server.stats.report();
    },
  );
}

async function resultOf(
  request: FastifyRequest<OfResult>,
  reply: FastifyReply,
  { server, closing }: { server: JobServer; closing: AbortSignal },
): Promise<JobResult> {
  const { params, query } = request;
  const bound = boundOf(request, server);
  const waiting = patience(reply, query.wait_seconds ?? 0, overOf(bound, server, closing));
  const result = await server.result(params.uid, waiting, bound);
  // Refuses if the key was revoked while the call waited.
  boundOf(request, server);
  return result;
}

/** What the caller's key binds it to; undefined: it is an operator's, or none is asked for. */
function boundOf({ principal }: FastifyRequest, { keys }: JobServer): SubmitterKey | undefined {
  if (principal.grants().length > 0) return undefined;
  const key = keys.find(principal.id);
  if (key === undefined)
    throw new SluiceError(
      "UNAUTHORIZED",
      "the API key is not valid: it is misspelt or was revoked",
    );
  return key;
}

/** Aborted when the server stops, or the caller's key is revoked. */
function overOf(
  bound: SubmitterKey | undefined,
  { keys }: JobServer,
  closing: AbortSignal,
): AbortSignal {
  return bound === undefined ? closing : AbortSignal.any([closing, keys.endingOf(bound.id)]);
}

/** Figures are of the jobs of all submitters. */
function refuseBound(bound: SubmitterKey | undefined): void {
  if (bound === undefined) return;
  const message = "figures of all submitters are for API_KEY alone; GET /job/list shows your jobs";
  throw new SluiceError("FORBIDDEN", message);
}

function timeOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  const message = `${field} must be a time such as 2026-01-31T12:00:00Z, or milliseconds`;
  throw new SluiceError("INVALID", message, { field, value: text });
}

const NAME = {
  type: "object",
  additionalProperties: false,
  properties: { worker_id: { type: "string", minLength: 1, maxLength: WORKER_ID_BYTES_MAX } },
};

const FILTER = {
  type: "object",
  additionalProperties: false,
  properties: {
    worker_id: { type: "string", minLength: 1, maxLength: WORKER_ID_BYTES_MAX },
    status: { enum: STATUSES },
    since: { type: "string", maxLength: 40 },
    until: { type: "string", maxLength: 40 },
    limit: { type: "integer", minimum: 1, maximum: LIST_LIMIT_MAX },
    cursor: { type: "string", maxLength: 40 },
  },
};

const NO_WAIT = AbortSignal.abort();

/** Over when the time is, when the client has gone, and when the call is. */
function patience({ raw }: FastifyReply, seconds: number, over: AbortSignal): AbortSignal {
  if (seconds === 0) return NO_WAIT;
  const answered = new AbortController();
  raw.once("close", () => answered.abort());
  return AbortSignal.any([AbortSignal.timeout(seconds * 1000), answered.signal, over]);
}

const WAIT = {
  type: "object",
  properties: {
    wait_seconds: { type: "number", minimum: 0, maximum: WAIT_SECONDS_MAX },
  },
};

function about(operationId: string, summary: string): object {
  return { operationId, summary, tags: ["jobs"] };
}

/** A job that was there and is no longer kept is gone, which is not the same as unknown. */
async function orGone<Answer>(
  reply: FastifyReply,
  answer: () => Promise<Answer>,
): Promise<Answer | FastifyReply> {
  try {
    return await answer();
  } catch (error) {
    const isGone = error instanceof SluiceError && error.code === "ALREADY_FINISHED";
    if (!isGone) throw error;
    return reply.code(410).send({ error: error.toJSON() });
  }
}
