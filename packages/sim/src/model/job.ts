// One job as the model sees it.

import type { Ending, JobSpec } from "@sluice/engine";

export interface ModelJob {
  readonly id: number;
  queue: string;
  state: "waiting" | "delayed" | "leased" | "ended";
  ending: Ending | undefined;
  tier: number;
  readonly path: readonly string[];
  readonly lane: string;
  // What its lane shall weigh from the moment it first enters; undefined once it has.
  weight: number | undefined;
  gates: readonly string[];
  strand: string;
  readonly cost: number;
  size: number;
  body: unknown;
  attempt: number;
  readonly attempts: number;
  readonly backoff: JobSpec["backoff"];
  readonly leaseMs: number | undefined;
  lease: number;
  worker: string;
  // When it falls due, its lease runs out or it ended.
  at: number;
  // The number of the call in which it ended.
  endedIn: number;
  // Order of entry into its strand. Equal ages: the rules do not say who entered first.
  age: number;
  // Since when it waits in its tier.
  since: number;
  deadline: number | undefined;
  readonly maxWaitMs: number | undefined;
  dedupe: string | undefined;
  readonly group: string | undefined;
  error: string | undefined;
  result: unknown;
  // A delayed job that comes from a failure is a retry: a full queue does not refuse it.
  isRetry: boolean;
  origin: string | undefined;
  // The leases that it had when it last began from its first attempt.
  leasesBefore: number;
  // What a dead letter gets back when it is redriven.
  home: { tier: number; gates: readonly string[] } | undefined;
  followUp: FollowUp | undefined;
}

// What an add with `keepLast` left behind while its job was leased.
export interface FollowUp {
  readonly spec: JobSpec;
}

export function pathOf(key: JobSpec["fairnessKey"]): readonly string[] {
  if (key === undefined) return [""];
  return typeof key === "string" ? [key] : key;
}

export function strandOf(job: Pick<ModelJob, "tier" | "lane" | "gates">): string {
  return `${job.tier}|${job.lane}|${[...job.gates].sort().join(",")}`;
}

export function gateSet(gates: readonly string[] | undefined): readonly string[] {
  return gates === undefined ? [] : [...new Set(gates)];
}
