/**
 * Policies: what a job's options are when its producer does not say. What is data goes to the
 * broker and is stored with the queue. What is a function stays with the handle
 * and runs before the job is added, as if the producer had said it.
 */
import {
  invalid,
  JOB_FIELDS,
  type JobOptions,
  knownFields,
  POLICY_OPTIONS,
  type PolicyOptions,
  SluiceError,
} from "@sluice/protocol";

/** The options that a policy may set; headers are what it reads. */
type PolicyField = Exclude<keyof JobOptions, "headers">;

export type Policy<Payload> = {
  readonly [F in PolicyField]?:
    | PolicyFunction<Payload, F>
    | (F extends keyof PolicyOptions ? PolicyOptions[F] : never)
    | undefined;
} & { readonly lua?: string | undefined; readonly cools?: readonly string[] | undefined };

type PolicyFunction<Payload, F extends PolicyField> = (
  payload: Payload,
  headers: Readonly<Record<string, string>>,
) => JobOptions[F];

/** The part of a policy that is code. */
export type PolicyFunctions = { readonly [F in PolicyField]?: PolicyFunction<unknown, F> };

const FIELDS = JOB_FIELDS.filter((field): field is PolicyField => field !== "headers");

const KNOWN = [...FIELDS, "cools", "lua"];

/** Never functions: they say what a policy may do, and what its program is. */
const DATA: readonly string[] = ["cools", "lua"];

const NO_HEADERS = Object.freeze({});

/** The functions of a policy, and its rules as they are given: the broker checks those. */
export function parsePolicy(value: unknown): {
  functions: PolicyFunctions | undefined;
  rules: PolicyOptions | null | undefined;
} {
  if (value === undefined || value === null) return { functions: undefined, rules: value };
  const functions: Record<string, unknown> = {};
  const rules: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(knownFields("queue.policy", value, KNOWN))) {
    if (rule === undefined) continue;
    if (typeof rule === "function" && !DATA.includes(name)) functions[name] = rule;
    else if (Object.hasOwn(POLICY_OPTIONS, name)) rules[name] = rule;
    else throw invalid(`queue.policy.${name}`, "a function of payload and headers", rule);
  }
  return { functions: someOf(functions), rules: someOf(rules) };
}

function someOf<T extends object>(all: T): T | undefined {
  return Object.keys(all).length === 0 ? undefined : all;
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
