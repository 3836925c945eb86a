/** What a worker, a consumption and their closing are told. */
import { type Duration, invalid, knownFields, LEASE, parseDuration } from "@sluice/protocol";
import { CONCURRENCY_MAX } from "./limits.ts";

/** As many handlers as the load asks for; the rule is told in `slots.ts`. */
export interface Elastic {
  min: number;
  max: number;
  /** From 0 to 1: one slot more when the load is at least this. Default 0.6. */
  scaleUpAt?: number | undefined;
  /** From 0 to 1: one slot less when the load is below this. Default 0.4. */
  scaleDownAt?: number | undefined;
  /** Another measure of the load than the share of busy slots, such as the fill of the queue. */
  load?: (() => number | Promise<number>) | undefined;
}

export interface WorkOptions {
  /** Handlers side by side. Default 1. */
  concurrency?: number | Elastic | undefined;
  /** Jobs held ready beyond those that run: fewer waits, less fairness. Default 0. */
  prefetch?: number | undefined;
  /** Instead of the lease of the queue. */
  lease?: Duration | undefined;
  /** What `workers()` and `why()` call it. Default: the queue's name and a number. */
  name?: string | undefined;
}

export interface ConsumeOptions {
  /** Jobs held at once, until each is acked, nacked or given back. Default 10. */
  prefetch?: number | undefined;
  lease?: Duration | undefined;
  name?: string | undefined;
}

export interface CloseOptions {
  /** How long running handlers may take to end before they are aborted. Default 30,000. */
  timeoutMs?: number | undefined;
}

/** The rule with every default filled in. */
export interface ElasticRule {
  readonly min: number;
  readonly max: number;
  readonly scaleUpAt: number;
  readonly scaleDownAt: number;
  readonly load: Elastic["load"];
}

export interface Work {
  readonly elastic: ElasticRule;
  readonly prefetch: number;
  readonly leaseMs: number | undefined;
  readonly name: string | undefined;
}

const PREFETCH_DEFAULT = 10;

export function parseWork(value: unknown): Work {
  const fields = ["concurrency", "prefetch", "lease", "name"];
  const {
    concurrency = 1,
    prefetch = 0,
    lease,
    name,
  } = knownFields<WorkOptions>("work", value, fields);
  return {
    elastic: parseConcurrency(concurrency),
    prefetch: integer("work.prefetch", prefetch, 0),
    leaseMs: lease === undefined ? undefined : LEASE.parse("work.lease", lease),
    name: parseName("work.name", name),
  };
}

export function parseConsume(value: unknown): Omit<Work, "elastic"> {
  const fields = ["prefetch", "lease", "name"];
  const {
    prefetch = PREFETCH_DEFAULT,
    lease,
    name,
  } = knownFields<ConsumeOptions>("consume", value, fields);
  return {
    prefetch: integer("consume.prefetch", prefetch, 1),
    leaseMs: lease === undefined ? undefined : LEASE.parse("consume.lease", lease),
    name: parseName("consume.name", name),
  };
}

/** Undefined when nothing is said. */
export function parseClose(value: unknown): number | undefined {
  const { timeoutMs } = knownFields<CloseOptions>("close", value, ["timeoutMs"]);
  return timeoutMs === undefined ? undefined : parseDuration("close.timeoutMs", timeoutMs);
}

function parseConcurrency(value: unknown): ElasticRule {
  const field = "work.concurrency";
  if (typeof value === "number") {
    const count = integer(field, value, 1);
    return { min: count, max: count, scaleUpAt: 1, scaleDownAt: 0, load: undefined };
  }
  const fields = ["min", "max", "scaleUpAt", "scaleDownAt", "load"];
  const elastic = knownFields<Elastic>(field, value, fields);
  const { scaleUpAt = 0.6, scaleDownAt = 0.4, load } = elastic;
  const min = integer(`${field}.min`, elastic.min, 1);
  const max = integer(`${field}.max`, elastic.max, 1);
  if (min > max) throw invalid(`${field}.min`, `at most ${field}.max (${max})`, min);
  share(`${field}.scaleUpAt`, scaleUpAt);
  share(`${field}.scaleDownAt`, scaleDownAt);
  if (scaleDownAt > scaleUpAt) {
    const wanted = `at most ${field}.scaleUpAt (${scaleUpAt})`;
    throw invalid(`${field}.scaleDownAt`, wanted, scaleDownAt);
  }
  if (load !== undefined && typeof load !== "function") {
    throw invalid(`${field}.load`, "a function", load);
  }
  return { min, max, scaleUpAt, scaleDownAt, load };
}

function parseName(field: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw invalid(field, "a string that is not empty", value);
}

function integer(field: string, value: unknown, min: number): number {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= CONCURRENCY_MAX) {
    return Number(value);
  }
  throw invalid(field, `an integer from ${min} to ${CONCURRENCY_MAX}`, value);
}

function share(field: string, value: unknown): void {
  if (typeof value === "number" && value >= 0 && value <= 1) return;
  throw invalid(field, "a number from 0 to 1", value);
}
