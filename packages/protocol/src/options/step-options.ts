/** What a step of a handler can be given. */
import { duration } from "../duration.ts";
import { type Fields, fields, type GivenFields, type ParsedFields } from "../fields.ts";
import { integer, list, NAME } from "../kinds.ts";
import { COST_MAX, JOB_GATES_MAX } from "../limits.ts";
import { STEP_RETRY } from "./retry-options.ts";

export const STEP_OPTIONS = {
  gates: {
    kind: list(NAME, JOB_GATES_MAX),
    text: "Gates of the step, in addition to the job's: it runs when all of them are open.",
  },
  cost: {
    kind: integer(1, COST_MAX),
    reckoned: "the job's",
    text: "What the step takes from the job's gates and its own.",
  },
  retry: {
    kind: STEP_RETRY,
    text: "How the step is retried, apart from its job. Absent: its job's attempt fails at once.",
  },
} as const satisfies Fields;

export const WAIT_OPTIONS = {
  timeout: {
    kind: duration(),
    as: "timeoutMs",
    text: "How long to wait for the signal. Absent: without an end.",
  },
} as const satisfies Fields;

export interface StepOptions extends GivenFields<typeof STEP_OPTIONS> {}
export interface WaitOptions extends GivenFields<typeof WAIT_OPTIONS> {}

const STEP = fields(STEP_OPTIONS);
const WAIT = fields(WAIT_OPTIONS);

export function parseStep(options: unknown): ParsedFields<typeof STEP_OPTIONS> {
  return STEP.parse("step", options);
}

export function parseWait(options: unknown): ParsedFields<typeof WAIT_OPTIONS> {
  return WAIT.parse("waitFor", options);
}
