/**
 * Policies as functions: what a job's options are when its producer does not say. They run before
 * the job is added and never again, so a replay of the log does not depend on them.
 */
import { SluiceError } from "@sluice/protocol";
import { fieldsOf } from "./fields.ts";
import { invalid } from "./invalid.ts";
import { JOB_FIELDS, type JobOptions } from "./parse-job.ts";

/** The options that a policy may set; headers are what it reads. */
type PolicyField = Exclude<keyof JobOptions, "headers">;

export type Policy<Payload> = {
  readonly [F in PolicyField]?: (
    payload: Payload,
    headers: Readonly<Record<string, string>>,
  ) => JobOptions[F];
};

const FIELDS = JOB_FIELDS.filter((field): field is PolicyField => field !== "headers");

const NO_HEADERS = Object.freeze({});

export function parsePolicy(value: unknown): Policy<unknown> {
  const policy = fieldsOf<Record<string, unknown>>("queue.policy", value, FIELDS);
  for (const [name, rule] of Object.entries(policy)) {
    if (rule !== undefined && typeof rule !== "function") {
      throw invalid(`queue.policy.${name}`, "a function of payload and headers", rule);
    }
  }
  return policy as Policy<unknown>;
}

/** The options with what the policy adds to them; what the producer said stays. */
export function applyPolicy(
  policy: Policy<unknown>,
  payload: unknown,
  options: JobOptions,
): JobOptions {
  const all: Record<string, unknown> = { ...options };
  for (const field of FIELDS) {
    const rule = policy[field];
    if (rule === undefined || all[field] !== undefined || isSaid(field, options)) continue;
    try {
      all[field] = rule(payload, options.headers ?? NO_HEADERS);
    } catch (error) {
      throw failed(field, error);
    }
  }
  return all as JobOptions;
}

/** `delay` and `runAt` say the same thing, so do `ttl` and `deadline`: one of each is enough. */
function isSaid(field: PolicyField, options: JobOptions): boolean {
  if (field === "delay") return options.runAt !== undefined;
  if (field === "runAt") return options.delay !== undefined;
  if (field === "ttl") return options.deadline !== undefined;
  return field === "deadline" && options.ttl !== undefined;
}

function failed(field: PolicyField, error: unknown): SluiceError {
  const why = error instanceof Error ? error.message : String(error);
  const name = `queue.policy.${field}`;
  return new SluiceError("INVALID", `${name} failed: ${why}`, { field: name }, { cause: error });
}
