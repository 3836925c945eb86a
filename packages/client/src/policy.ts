/**
 * Policies: what a job's options are when its producer does not say. What is data goes to the
 * broker and is stored with the queue (policy-rules.ts). What is a function stays with the handle
 * and runs before the job is added, as if the producer had said it.
 */
import { type QueuePolicy, SluiceError } from "@sluice/protocol";
import { fieldsOf } from "./fields.ts";
import { invalid } from "./invalid.ts";
import { JOB_FIELDS, type JobOptions } from "./parse-job.ts";
import { type PolicyRules, parseRules, RULES } from "./policy-rules.ts";

/** The options that a policy may set; headers are what it reads. */
type PolicyField = Exclude<keyof JobOptions, "headers">;

export type Policy<Payload> = {
  readonly [F in PolicyField]?:
    | PolicyFunction<Payload, F>
    | (F extends keyof PolicyRules ? PolicyRules[F] : never)
    | undefined;
} & { readonly lua?: string | undefined; readonly cools?: readonly string[] | undefined };

type PolicyFunction<Payload, F extends PolicyField> = (
  payload: Payload,
  headers: Readonly<Record<string, string>>,
) => JobOptions[F];

/** The part of a policy that is code. */
export type PolicyFunctions = { readonly [F in PolicyField]?: PolicyFunction<unknown, F> };

const FIELDS = JOB_FIELDS.filter((field): field is PolicyField => field !== "headers");

/** Never functions: they say what a policy may do, and what its program is. */
const DATA: readonly string[] = ["cools", "lua"];

const NO_HEADERS = Object.freeze({});

export function parsePolicy(value: unknown): {
  functions: PolicyFunctions | undefined;
  rules: QueuePolicy | undefined;
} {
  const policy = fieldsOf<Record<string, unknown>>("queue.policy", value, [
    ...FIELDS,
    "cools",
    "lua",
  ]);
  const functions: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(policy)) {
    if (typeof rule === "function" && !DATA.includes(name)) functions[name] = rule;
    else if (rule !== undefined && !isRule(name, rule)) {
      const wanted = RULES.includes(name) ? ", a template, a value or a choice" : "";
      throw invalid(`queue.policy.${name}`, `a function of payload and headers${wanted}`, rule);
    }
  }
  const hasFunctions = Object.keys(functions).length > 0;
  return { functions: hasFunctions ? functions : undefined, rules: parseRules(policy) };
}

function isRule(name: string, rule: unknown): boolean {
  if (name === "lua") return typeof rule === "string";
  if (!RULES.includes(name) || rule === null) return false;
  return ["string", "number", "object"].includes(typeof rule);
}

/** The options with what the policy adds to them; what the producer said stays. */
export function applyPolicy(
  policy: PolicyFunctions,
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
