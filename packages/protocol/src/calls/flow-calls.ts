import type { DependencyInfo, FlowAdded, FlowJob } from "../flow.ts";
import type { Page } from "../queue.ts";
import * as shapes from "../shapes/index.ts";
import { call } from "./call.ts";
import { batch, FLOW, ID, PAGE, QUEUE, TEXT, told } from "./kinds.ts";
import type { AddFlowOptions, OperationOptions, PageOptions } from "./options.ts";

/** Calls about jobs that wait for other jobs. */
export const FLOW_CALLS = {
  addFlow: call<[queue: string, jobs: readonly FlowJob[]], FlowAdded, AddFlowOptions>({
    says: "Adds jobs of any queues that wait for each other: all of them or none.",
    about: "queue",
    args: [QUEUE, batch("jobs", shapes.FLOW_JOB)],
    options: { flow: told(TEXT, "A flow that `openFlow` has opened; default a new one.") },
    may: "produce",
    repeat: "once",
    sendsJobs: true,
    answer: shapes.FLOW_ADDED,
    http: { route: "POST /v1/queues/:queue/flows", isOwn: true },
  }),
  openFlow: call<[queue: string], { flow: string }, OperationOptions>({
    says: "Opens a flow for more jobs than one call takes. It is cancelled unless it is sealed in 10 minutes.",
    about: "queue",
    args: [QUEUE],
    may: "produce",
    repeat: "once",
    answer: shapes.FLOW_OPENED,
    http: "POST /v1/queues/:queue/flows/open",
  }),
  sealFlow: call<[flow: string], void, OperationOptions>({
    says: "Seals an open flow: its jobs run from now on, each after those that it waits for.",
    about: "group",
    args: [FLOW],
    may: "produce",
    repeat: "once",
    http: "POST /v1/flows/:queue/:flow/seal",
  }),
  cancelFlow: call<[flow: string], void, OperationOptions>({
    says: "Cancels all jobs of a flow that is not sealed.",
    about: "group",
    args: [FLOW],
    may: "produce",
    repeat: "once",
    http: "DELETE /v1/flows/:queue/:flow",
  }),
  dependencies: call<[id: string], Page<DependencyInfo>, PageOptions>({
    says: "Lists the jobs that a job waits for, with their results, by page.",
    about: "job",
    args: [ID],
    options: PAGE,
    may: "view",
    repeat: "read",
    jobs: "id",
    ids: "items",
    bytes: "items",
    answer: shapes.page(shapes.DEPENDENCY),
    http: { route: "GET /v1/jobs/:id/dependencies", isOwn: true },
  }),
  dependents: call<[id: string], Page<DependencyInfo>, PageOptions>({
    says: "Lists the jobs that wait for a job, by page.",
    about: "job",
    args: [ID],
    options: PAGE,
    may: "view",
    repeat: "read",
    jobs: "id",
    ids: "items",
    bytes: "items",
    answer: shapes.page(shapes.DEPENDENCY),
    http: { route: "GET /v1/jobs/:id/dependents", isOwn: true },
  }),
};
