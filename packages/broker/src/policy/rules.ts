import type { JobSpec, QueueConfig } from "@sluice/engine";
import { invalid, isPattern, type QueuePolicy } from "@sluice/protocol";
import * as limits from "../limits.ts";
import { asKey, asName } from "./names.ts";
import { type Headers, Template } from "./template.ts";
import { integerReader, parseRule, type Reader, type Rule } from "./values.ts";

/** Options that are numbers, and their bounds. */
const NUMBERS = {
  weight: [1, limits.WEIGHT_MAX],
  cost: [1, limits.COST_MAX],
  delayMs: [0, limits.DURATION_MS_MAX],
  ttlMs: [1, limits.DURATION_MS_MAX],
  maxWaitMs: [0, limits.DURATION_MS_MAX],
  attempts: [1, limits.ATTEMPTS_MAX],
  leaseMs: [1, limits.LEASE_MS_MAX],
} as const;

type NumberOption = keyof typeof NUMBERS;

/** Fills in an option of a job that its producer has left open. */
type Fill = (spec: JobSpec, headers: Headers, queue: string, config: QueueConfig) => void;

/**
 * The templates of one queue, parsed once. For each job they fill in what its producer and the
 * script have left open. Invalid values of a template are ignored.
 */
export class Rules {
  readonly #fills: readonly Fill[];

  /** Refuses what a policy cannot say, by the name of the field. */
  constructor(policy: QueuePolicy) {
    const { fairnessKey, gates, cools, priority } = policy;
    if (cools !== undefined) checkPatterns("queue.policy.cools", cools);
    const fills: Fill[] = [];
    if (fairnessKey !== undefined) fills.push(keyFill(fairnessKey));
    if (gates !== undefined) fills.push(gatesFill(gates));
    if (priority !== undefined) fills.push(priorityFill(priority));
    if (policy.ordered !== undefined) fills.push(orderedFill(policy.ordered));
    for (const name of keysOf(NUMBERS)) {
      if (policy[name] !== undefined) fills.push(numberFill(name, policy[name]));
    }
    this.#fills = fills;
  }

  fill(spec: JobSpec, headers: Headers, queue: string, config: QueueConfig): void {
    for (const fill of this.#fills) fill(spec, headers, queue, config);
  }
}

function checkPatterns(field: string, value: unknown): void {
  if (Array.isArray(value) && value.length <= limits.COOLS_MAX && value.every(isPattern)) return;
  throw invalid(field, `an array of at most ${limits.COOLS_MAX} gates, prefixes* or *`, value);
}

function keyFill(value: string | readonly string[]): Fill {
  const levels = Array.isArray(value)
    ? parseList("queue.policy.fairnessKey", value, limits.PATH_LEVELS_MAX)
    : [Template.parse("queue.policy.fairnessKey", value)];
  return (spec, headers, queue) => {
    if (spec.fairnessKey !== undefined) return;
    const keys = levels.map((level) => asKey(level.render(headers, queue) ?? ""));
    if (keys.some((key) => key !== "")) spec.fairnessKey = keys.length === 1 ? keys[0]! : keys;
  };
}

function gatesFill(value: readonly string[]): Fill {
  const templates = parseList("queue.policy.gates", value, limits.GATES_MAX);
  return (spec, headers, queue) => {
    if (spec.gates !== undefined) return;
    const gates: string[] = [];
    for (const template of templates) {
      const gate = template.render(headers, queue);
      if (gate !== undefined && gate !== "") gates.push(asName(gate));
    }
    if (gates.length > 0) spec.gates = gates;
  };
}

function parseList(field: string, value: unknown, max: number): Template[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > max) {
    throw invalid(field, `an array of 1 to ${max} templates`, value);
  }
  return value.map((one, i) => Template.parse(`${field}[${i}]`, one));
}

const readTier = integerReader(0, limits.TIERS_MAX - 1);

/** A tier by index or name; whether the queue has it is for later, since its tiers may change. */
const readPriority: Reader<number | string> = (value) => {
  if (typeof value !== "string") return readTier(value);
  return value === "" ? undefined : value;
};

function priorityFill(value: NonNullable<QueuePolicy["priority"]>): Fill {
  const wanted = "the index or the name of a tier";
  const rule = parseRule("queue.policy.priority", value, readPriority, wanted);
  return (spec, headers, queue, config) => {
    if (spec.priority !== undefined) return;
    const priority = rule(headers, queue);
    if (priority !== undefined) spec.priority = tierOf(priority, config);
  };
}

/** The tier of a queue by its name, else by its index; undefined when it has no such tier. */
export function tierOf(priority: number | string, { tiers }: QueueConfig): number | undefined {
  const named = tiers.findIndex(({ name }) => name === priority);
  const tier = named === -1 ? readTier(priority) : named;
  return tier !== undefined && tier < tiers.length ? tier : undefined;
}

const readSwitch: Reader<boolean> = (value) => {
  if (typeof value === "boolean") return value;
  return value === "true" || (value === "false" ? false : undefined);
};

function orderedFill(value: NonNullable<QueuePolicy["ordered"]>): Fill {
  const rule = parseRule("queue.policy.ordered", value, readSwitch, "true or false");
  return (spec, headers, queue) => {
    spec.ordered ??= rule(headers, queue);
  };
}

function numberFill(name: NumberOption, value: unknown): Fill {
  const [min, max] = NUMBERS[name];
  const wanted = `an integer from ${min} to ${max}, a template or a choice`;
  const rule: Rule<number> = parseRule(
    `queue.policy.${name.replace(/Ms$/, "")}`,
    value,
    integerReader(min, max),
    wanted,
  );
  // `runAt` says what `delayMs` says, and `deadline` what `ttlMs` says: one of each is enough.
  const other = name === "delayMs" ? "runAt" : name === "ttlMs" ? "deadline" : name;
  return (spec, headers, queue) => {
    if (spec[name] !== undefined || spec[other] !== undefined) return;
    spec[name] = rule(headers, queue);
  };
}

function keysOf<T extends object>(of: T): (keyof T & string)[] {
  return Object.keys(of) as (keyof T & string)[];
}
