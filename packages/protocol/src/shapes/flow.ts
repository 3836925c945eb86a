import type { DependencyInfo, FlowAdded } from "../flow.ts";
import type { Schema } from "../kinds.ts";
import { ADDED, JOB_STATE, NEW_JOB, type ResultJson } from "./job.ts";
import { about, list, maybe, NAME, shape, TEXT } from "./schema.ts";

const RULE: Schema = about("What a failure does; default `fail`.", {
  type: "string",
  enum: ["fail", "run", "wait"],
});

const AFTER: Schema = about("Jobs that must have ended first.", {
  type: "array",
  items: {
    type: "object",
    properties: {
      job: { type: "integer", description: "The place of a job of this call, from 0." },
      id: about("A job that exists.", TEXT),
      onDependencyFailure: RULE,
    },
    additionalProperties: false,
  },
});

/** A job of a flow: as it is added, with its queue and whom it waits for. */
export const FLOW_JOB: Schema = {
  ...NEW_JOB,
  properties: { ...(NEW_JOB.properties as object), queue: NAME, after: AFTER },
  required: ["queue"],
};

export const FLOW_ADDED: Schema = shape<FlowAdded>({ flow: TEXT, jobs: list(ADDED) });

export const FLOW_OPENED: Schema = shape<{ flow: string }>({ flow: TEXT });

export const DEPENDENCY: Schema = shape<Omit<DependencyInfo, "result"> & ResultJson>({
  id: TEXT,
  queue: maybe(NAME),
  state: JOB_STATE,
  onDependencyFailure: RULE,
  error: maybe(TEXT),
  result: maybe({}),
  resultBase64: maybe(TEXT),
});
