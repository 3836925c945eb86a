/** Jobs that wait for other jobs: payloads and results as JSON where they are JSON. */
import {
  DEPENDENCY_FAILURES,
  type DependencyInfo,
  type FlowEdge,
  type FlowGraph,
  type FlowJob,
  type FlowNode,
  type Page,
  SluiceError,
  underField,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { BodyShape } from "../body/parse-body.ts";
import { readFlowGraph } from "../flow-graph/flow-graph.ts";
import { BODY_BYTES_HARD_MAX, FLOW_GRAPH_JOBS_MAX, JOBS_PAGE_MAX } from "../limits.ts";
import { type Encoding, fromBytes } from "../payload.ts";
import { type JobBody, jobOf } from "./add.ts";
import { operationOf, type RouteContext } from "./context.ts";
import { judged } from "./judged.ts";
import { route } from "./route.ts";
import {
  about,
  answers,
  CURSOR,
  choice,
  DEPENDENCY,
  ENCODING,
  FLAG,
  FLOW_ADDED,
  FLOW_JOB,
  JOB_STATE,
  limit,
  list,
  maybe,
  NAME,
  object,
  page,
  type Schema,
  shape,
  TEXT,
} from "./shapes.ts";

const GRAPH: Schema = shape<FlowGraph>({
  nodes: list(
    shape<FlowNode>({ id: TEXT, queue: maybe(NAME), state: JOB_STATE, error: maybe(TEXT) }),
  ),
  edges: list(
    shape<FlowEdge>({
      from: about("The job that is waited for.", TEXT),
      to: TEXT,
      onDependencyFailure: choice(DEPENDENCY_FAILURES),
    }),
  ),
  isCut: about("There are more jobs than are answered.", FLAG),
});

type FlowBody = JobBody & Pick<FlowJob, "queue"> & { after?: FlowJob["after"] };

interface AddFlow {
  Params: { queue: string };
  Body: { jobs: readonly FlowBody[]; flow?: string };
}

interface List {
  Params: { id: string };
  Querystring: { limit?: number; cursor?: string; encoding?: Encoding };
}

export function flowRoutes(app: FastifyInstance, context: RouteContext): void {
  route<AddFlow>(app, "addFlow", {
    description: "A job waits for others of the call by `job`, their place, or by `id`.",
    body: object({ jobs: list(judged(FLOW_JOB)), flow: TEXT }, ["jobs"]),
    response: answers(FLOW_ADDED),
    config: { isAdd: true, body: new BodyShape({ items: "jobs", raw: ["payload"] }) },
    bodyLimit: BODY_BYTES_HARD_MAX,
    handler: async (request) => {
      const { jobs, flow } = request.body;
      const options = { ...operationOf(request), ...(flow === undefined ? {} : { flow }) };
      return context.broker(request).addFlow(request.params.queue, flowJobsOf(jobs), options);
    },
  });
  for (const name of ["dependencies", "dependents"] as const) {
    route<List>(app, name, {
      querystring: object({ limit: limit(JOBS_PAGE_MAX), cursor: CURSOR, encoding: ENCODING }),
      response: answers(page(DEPENDENCY)),
      handler: async (request) => {
        const { encoding = "auto", limit: most = JOBS_PAGE_MAX, ...from } = request.query;
        const found: Page<DependencyInfo> = await context
          .broker(request)
          [name](request.params.id, { ...from, limit: most });
        return { ...found, items: found.items.map((item) => shown(item, encoding)) };
      },
    });
  }
}

/** The jobs around one job as a graph, for a page that draws it. */
export function flowGraphRoutes(app: FastifyInstance, context: RouteContext): void {
  route<{ Params: { id: string }; Querystring: { limit?: number } }>(app, "GET /v1/jobs/:id/flow", {
    about: ["getFlow", "job", "The jobs that a job waits for and that wait for it, near and far"],
    querystring: object({ limit: limit(FLOW_GRAPH_JOBS_MAX) }),
    response: answers(GRAPH),
    handler: (request) => {
      const { limit: most = FLOW_GRAPH_JOBS_MAX } = request.query;
      return readFlowGraph(context.broker(request), request.params.id, most);
    },
  });
}

function flowJobsOf(bodies: readonly FlowBody[]): FlowJob[] {
  return bodies.map((body, at) => underField(`jobs.${at}`, () => flowJobOf(body)));
}

/** Its queue and whom it waits for are checked by the broker. */
function flowJobOf(body: FlowBody): FlowJob {
  if (typeof body !== "object" || body === null) {
    throw new SluiceError("INVALID", "a job of a flow must be an object", { field: "jobs" });
  }
  const { queue, after, ...job } = body;
  const made = jobOf(job, undefined);
  return after === undefined ? { ...made, queue } : { ...made, queue, after };
}

function shown({ result, ...rest }: DependencyInfo, encoding: Encoding): object {
  return result === undefined ? rest : { ...rest, ...fromBytes("result", result, encoding) };
}
