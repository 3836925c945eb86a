/**
 * Policies as data: templates, choices and Lua, from the user's words to the port's. They are
 * stored with the queue and run where the broker is, for every producer in any language; what is
 * wrong with a template the broker says.
 */
import type { PolicyChoice, PolicyNumber, QueuePolicy } from "@sluice/protocol";
import { type Duration, parseDuration } from "./duration.ts";
import { fieldsOf } from "./fields.ts";
import { invalid } from "./invalid.ts";

/** A duration, a template that makes milliseconds, or a choice between durations. */
export type DurationRule = Duration | `${string}{${string}}${string}` | PolicyChoice<Duration>;

export interface PolicyRules {
  /** A template, or one for each level of a path. */
  fairnessKey: string | readonly string[];
  weight: PolicyNumber;
  priority: PolicyNumber | PolicyChoice<number | string>;
  gates: readonly string[];
  /** Of those gates, which ones failures may cool down: names, prefixes that end in `*`, or `*`. */
  cools: readonly string[];
  cost: PolicyNumber;
  attempts: PolicyNumber;
  delay: DurationRule;
  ttl: DurationRule;
  maxWait: DurationRule;
  lease: DurationRule;
  /** A program with `on_enqueue(msg)`, `on_failure(msg)` or both. */
  lua: string;
}

const PASSED = [
  "fairnessKey",
  "weight",
  "priority",
  "gates",
  "cools",
  "cost",
  "attempts",
  "lua",
] as const;

const DURATIONS = {
  delay: "delayMs",
  ttl: "ttlMs",
  maxWait: "maxWaitMs",
  lease: "leaseMs",
} as const;

export const RULES: readonly string[] = [...PASSED, ...Object.keys(DURATIONS)];

/** What of a policy is data, as the port has it; undefined when nothing is. */
export function parseRules(policy: Readonly<Record<string, unknown>>): QueuePolicy | undefined {
  const rules: Record<string, unknown> = {};
  for (const name of PASSED) if (isData(policy[name])) rules[name] = policy[name];
  for (const [name, at] of Object.entries(DURATIONS)) {
    if (isData(policy[name])) rules[at] = parseDurationRule(`queue.policy.${name}`, policy[name]);
  }
  return Object.keys(rules).length === 0 ? undefined : (rules as QueuePolicy);
}

function isData(value: unknown): boolean {
  return value !== undefined && typeof value !== "function";
}

function parseDurationRule(field: string, value: unknown): PolicyNumber {
  if (typeof value === "string" && value.includes("{")) return value;
  if (typeof value !== "object" || value === null) return parseDuration(field, value);
  const choice = fieldsOf<PolicyChoice<unknown>>(field, value, ["by", "values", "default"]);
  const { by, values, default: otherwise } = choice;
  if (typeof values !== "object" || values === null) {
    throw invalid(`${field}.values`, "an object of durations", values);
  }
  const parsed = Object.entries(values).map(([key, duration]) => {
    const ms = parseDuration(`${field}.values[${JSON.stringify(key)}]`, duration);
    return [key, ms] as const;
  });
  const rule = { by, values: Object.fromEntries(parsed) };
  if (otherwise === undefined) return rule;
  return { ...rule, default: parseDuration(`${field}.default`, otherwise) };
}
