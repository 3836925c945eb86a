import {
  type Added,
  type JobFields,
  type JobOptions,
  type NewJob,
  type Outcome,
  readJob,
  SluiceError,
} from "@sluice/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { forReadable } from "../batch.ts";
import { BodyShape } from "../body/parse-body.ts";
import { BATCH_MAX, BODY_BYTES_HARD_MAX, JOB_HEADERS_MAX } from "../limits.ts";
import { type Carried, toBytes } from "../payload.ts";
import { sendError } from "../shell/errors.ts";
import { described } from "./call-description.ts";
import { lostSignal, operationOf, type RouteContext } from "./context.ts";
import { fieldsOf, judged } from "./judged.ts";
import { ADDED, ERROR, list, NEW_JOB, object, results, type Schema } from "./shapes.ts";

export type JobBody = Carried & JobOptions;
type Body = JobBody & { jobs?: readonly JobBody[] };

interface OnQueue {
  Params: { queue: string };
  Querystring: { holdGroups?: boolean };
}

const SHAPE = new BodyShape({ items: "jobs", raw: ["payload"] });

const PROPERTIES = NEW_JOB.properties as Readonly<Record<string, Schema>>;
const FIELDS = Object.keys(PROPERTIES);
const JOBS: Schema = list(judged(NEW_JOB), { maxItems: BATCH_MAX });
const ONE = Object.fromEntries(FIELDS.map((field) => [field, judged(PROPERTIES[field]!)]));

const SCHEMA = {
  ...described("add"),
  description:
    "One job is `{ payload, ...options }`; many are `{ jobs: [...] }`, each with its own answer. " +
    "A `traceparent` header is carried to the worker among the headers of the job.",
  querystring: object({
    holdGroups: {
      type: "boolean",
      description: "More members of these groups follow: they do not end before their release.",
    },
  }),
  body: object({ ...ONE, jobs: JOBS }),
  response: {
    200: {
      description: "A duplicate, or the answers for many.",
      anyOf: [ADDED, results(ADDED)],
    },
    201: { ...ADDED, description: "Added, and durable.", required: ["id"] },
    "4xx": ERROR,
    "5xx": ERROR,
  },
};

export function addRoutes(app: FastifyInstance, context: RouteContext): void {
  app.route<OnQueue & { Body: Body }>({
    method: "POST",
    url: "/v1/queues/:queue/jobs",
    schema: SCHEMA,
    config: { isAdd: true, body: SHAPE },
    bodyLimit: BODY_BYTES_HARD_MAX,
    handler: async (request, reply) => {
      const { jobs, ...one } = request.body;
      if (jobs !== undefined) checkAlone(one);
      const outcomes = await add(context, request, jobs ?? [one]);
      if (jobs !== undefined) return { results: outcomes.map(itemOf) };
      return answerOne(reply, outcomes[0]!);
    },
  });
}

/** A batch has its options in its jobs. */
function checkAlone(one: JobBody): void {
  const [field] = Object.keys(one);
  if (field === undefined) return;
  throw new SluiceError("INVALID", `put ${field} on each job, not beside "jobs"`, {
    field: `body.${field}`,
  });
}

async function add(
  context: RouteContext,
  request: FastifyRequest<OnQueue>,
  bodies: readonly JobBody[],
): Promise<Outcome<Added>[]> {
  const broker = context.broker(request);
  const { traceparent } = request.headers;
  const trace = typeof traceparent === "string" ? traceparent : undefined;
  const { holdGroups } = request.query;
  // Jobs that wait for room hold their payloads: they are withdrawn when the caller is gone.
  const options = { holdGroups, signal: lostSignal(request), ...operationOf(request) };
  return forReadable(
    bodies,
    (body) => jobOf(body, trace),
    (jobs) => broker.add(request.params.queue, jobs, options),
  );
}

export function jobOf(body: unknown, traceparent: string | undefined): NewJob {
  const fields = fieldsOf<JobBody>("job", body, FIELDS);
  for (const field of ["headers", "dedupe", "backoff"] as const) checkSize(field, fields[field]);
  const { payload: _, payloadBase64: __, ...said } = fields;
  const options: JobFields = {};
  readJob(options, said);
  const payload = toBytes("payload", fields);
  if (payload === undefined) {
    const message = "payload must be given, or payloadBase64";
    throw new SluiceError("INVALID", message, { field: "payload" });
  }
  if (traceparent === undefined) return { ...options, payload };
  // Headers that are none are for the broker to refuse.
  if (options.headers !== undefined && !isObject(options.headers)) return { ...options, payload };
  return { ...options, payload, headers: { traceparent, ...options.headers } };
}

/** Counted here, item by item: the broker looks at all jobs of a batch in one go. */
function checkSize(field: string, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const count = Object.keys(value).length;
  if (count <= JOB_HEADERS_MAX) return;
  const what = field === "headers" ? field : "fields";
  const message = `job.${field} must be at most ${JOB_HEADERS_MAX} ${what}, got ${count}`;
  throw new SluiceError("INVALID", message, { field: `job.${field}`, value: count });
}

function itemOf({ ok, error }: Outcome<Added>): object {
  return error === undefined ? shown(ok!) : { error };
}

function shown(added: Added): object {
  const { id: _, ...dropped } = added;
  return added.dropped === true ? dropped : added;
}

function answerOne(reply: FastifyReply, { ok, error }: Outcome<Added>): FastifyReply {
  if (error !== undefined) return sendError(reply, SluiceError.fromJSON(error));
  const isNew = ok!.duplicate !== true && ok!.dropped !== true;
  return reply.code(isNew ? 201 : 200).send(shown(ok!));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
