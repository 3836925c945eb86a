/**
 * The routes of calls that HTTP makes as they are: where each argument is in a request, and how the
 * answer is written, is in the row of the call. Routes that do more are in the files beside this.
 */
import {
  CALL_NAMES,
  type CallName,
  type CallRow,
  type Outcome,
  rowOf,
  SluiceError,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { BodyShape, MEMBERS } from "../body/parse-body.ts";
import { LEASES_BODY_BYTES_MAX, QUEUE_BODY_BYTES_MAX, STORE_PAGE_MAX } from "../limits.ts";
import {
  answerSchema,
  bodyPart,
  bodySchema,
  closed,
  described,
  lineOf,
  querySchema,
} from "./call-description.ts";
import { type CallRequest, planOf, type RequestPlan } from "./call-request.ts";
import { operationOf, type RouteContext } from "./context.ts";

/** Bounds of HTTP that are not those of every call. */
interface Bounds {
  readonly bodyLimit?: number;
  readonly config?: { readonly body: BodyShape };
  readonly pageMax?: number;
}

const BOUNDS: { readonly [N in CallName]?: Bounds } = {
  setQueue: { bodyLimit: QUEUE_BODY_BYTES_MAX, config: { body: MEMBERS } },
  cancelByKey: {
    bodyLimit: LEASES_BODY_BYTES_MAX,
    config: { body: new BodyShape({ items: "keys" }) },
  },
  storeScan: { pageMax: STORE_PAGE_MAX },
};

export function callRoutes(app: FastifyInstance, context: RouteContext): void {
  for (const name of CALL_NAMES) {
    const { http } = rowOf(name);
    if (http !== undefined && http.isOwn !== true) callRoute(app, context, name);
  }
}

function callRoute(app: FastifyInstance, context: RouteContext, name: CallName): void {
  const row = rowOf(name);
  const plan = planOf(row);
  const line = lineOf(row.http!.route);
  const { pageMax, ...bounds } = BOUNDS[name] ?? {};
  app.route({
    method: line.method,
    url: line.url,
    ...bounds,
    schema: closed(line, {
      ...described(name),
      ...requestSchema(row, plan, pageMax),
      response: answerSchema(row, plan.isOne),
    }),
    handler: async (request, reply) => {
      const asked = request as CallRequest;
      const args = plan.reads.map((read) => read(asked));
      const operation = row.repeat === "once" ? operationOf(request) : {};
      const options = { ...plan.options(asked), ...operation };
      const broker = context.broker(request);
      const answer = await Reflect.apply(broker[name], broker, [...args, options]);
      const body = shown(row, plan.isOne, asked.params.id ?? "", answer);
      return row.answer === undefined ? reply.code(204).send() : body;
    },
  });
}

function requestSchema(row: CallRow, { fields, isQuery }: RequestPlan, pageMax?: number): object {
  const { body } = row.http!;
  if (body !== undefined)
    return { body: bodyPart(row.args.find(({ name }) => name === body)!.kind) };
  if (isQuery) return { querystring: querySchema(row, fields, pageMax) };
  const hasFields = fields.length > 0 || Object.keys(row.options).length > 0;
  return hasFields ? { body: bodySchema(row, fields) } : {};
}

/** What a call has answered, as it is sent. */
function shown({ each, http }: CallRow, isOne: boolean, id: string, answer: unknown): unknown {
  const { field } = http!;
  const wrapped = (value: unknown): unknown => (field === undefined ? value : { [field]: value });
  if (each) {
    const outcomes = answer as readonly Outcome<unknown>[];
    if (isOne) return wrapped(accept(outcomes[0]!));
    return {
      results: outcomes.map(({ ok, error }) =>
        error === undefined ? { [field ?? "ok"]: ok } : { error },
      ),
    };
  }
  if (isOne && Array.isArray(answer)) return wrapped(found(answer[0], id));
  return Array.isArray(answer) ? { items: answer } : wrapped(answer);
}

/** The answer for the one item that was asked about. */
function accept<T>({ ok, error }: Outcome<T>): T {
  if (error !== undefined) throw SluiceError.fromJSON(error);
  return ok!;
}

function found<T>(value: T | undefined, id: string): T {
  if (value !== undefined) return value;
  throw new SluiceError("JOB_NOT_FOUND", `there is no job ${id}`, { field: "id", value: id });
}
