/**
 * Checks what a job is told. This runs for every job that is added, so a field that is absent
 * costs one comparison, nothing is copied and nothing is made; the messages are built only when
 * something is refused. Whether a cost fits the gates is for those who know the gates.
 */
import { invalid } from "../errors.ts";
import {
  ATTEMPTS_MAX,
  COST_MAX,
  DURATION_MS_MAX,
  JOB_BYTES_MAX,
  JOB_GATES_MAX,
  KEY_BYTES_MAX,
  LEASE_MS_MAX,
  PATH_LEVELS_MAX,
  TIME_MS_MAX,
  WEIGHT_MAX,
} from "../limits.ts";
import type { DedupeMode, JobSpec, QueueConfig } from "../types.ts";
import { asObject } from "./fields.ts";
import { A_GROUP, A_NAME, fitsBytes, isGroup, isName } from "./names.ts";
import { parseRetry } from "./parse-retry.ts";

const MODES: readonly DedupeMode[] = ["pending", "window", "debounce", "replace", "keepLast"];
const A_KEY = `a string of at most ${KEY_BYTES_MAX} bytes`;

/** Refuses what cannot be; answers the job's tier. */
export function checkJob(spec: JobSpec, queue: QueueConfig): number {
  if (typeof spec !== "object" || spec === null) throw invalid("job", "an object", spec);
  if (spec.fairnessKey !== undefined) checkFairnessKey("job.fairnessKey", spec.fairnessKey);
  if (spec.weight !== undefined) checkInteger("job.weight", spec.weight, 1, WEIGHT_MAX);
  if (spec.gates !== undefined) checkGates(spec.gates);
  if (spec.cost !== undefined) checkInteger("job.cost", spec.cost, 1, COST_MAX);
  checkTimes(spec);
  if (spec.dedupe !== undefined) checkDedupe(spec);
  if (spec.group !== undefined && !isGroup(spec.group)) {
    throw invalid("job.group", A_GROUP, spec.group);
  }
  if (spec.attempts !== undefined) checkInteger("job.attempts", spec.attempts, 1, ATTEMPTS_MAX);
  if (spec.backoff !== undefined) parseRetry("job.backoff", spec.backoff, queue.retry);
  if (spec.leaseMs !== undefined) checkInteger("job.lease", spec.leaseMs, 1, LEASE_MS_MAX);
  if (spec.sizeBytes !== undefined) {
    checkInteger("job.sizeBytes", spec.sizeBytes, 0, JOB_BYTES_MAX);
  }
  return tierOf(spec.priority, queue);
}

/** A priority by index or name; a job that has none is in no hurry and goes to the last tier. */
export function tierOf(priority: number | string | undefined, queue: QueueConfig): number {
  const tiers = queue.tiers;
  if (priority === undefined) return tiers.length - 1;
  if (typeof priority === "string") {
    for (let tier = 0; tier < tiers.length; tier++) if (tiers[tier]!.name === priority) return tier;
    throw invalid("job.priority", `one of ${tiers.map((t) => t.name).join(", ")}`, priority);
  }
  checkInteger("job.priority", priority, 0, tiers.length - 1);
  return priority;
}

/** Each gate once, in the order of the job; the same array when there is nothing to leave out. */
export function distinctGates(gates: readonly string[]): readonly string[] {
  for (let i = 1; i < gates.length; i++) {
    if (gates.indexOf(gates[i]!) !== i) return [...new Set(gates)];
  }
  return gates;
}

export function checkFairnessKey(field: string, key: unknown): void {
  if (fitsBytes(key, KEY_BYTES_MAX)) return;
  if (!Array.isArray(key)) throw invalid(field, `${A_KEY}, or an array of them`, key);
  if (key.length === 0 || key.length > PATH_LEVELS_MAX) {
    throw invalid(field, `a path of 1 to ${PATH_LEVELS_MAX} levels`, key.length);
  }
  for (let i = 0; i < key.length; i++) {
    if (!fitsBytes(key[i], KEY_BYTES_MAX)) throw invalid(`${field}[${i}]`, A_KEY, key[i]);
  }
}

function checkGates(gates: unknown): void {
  if (!Array.isArray(gates)) throw invalid("job.gates", "an array of names", gates);
  if (gates.length > JOB_GATES_MAX) {
    throw invalid("job.gates", `an array of at most ${JOB_GATES_MAX} names`, gates.length);
  }
  for (let i = 0; i < gates.length; i++) {
    if (!isName(gates[i])) throw invalid(`job.gates[${i}]`, A_NAME, gates[i]);
  }
}

function checkTimes(spec: JobSpec): void {
  if (spec.delayMs !== undefined) {
    checkNumber("job.delay", spec.delayMs, DURATION_MS_MAX);
    if (spec.runAt !== undefined) {
      throw invalid("job.runAt", "absent when job.delay is given", spec.runAt);
    }
  }
  if (spec.runAt !== undefined) checkNumber("job.runAt", spec.runAt, TIME_MS_MAX);
  if (spec.ttlMs !== undefined) {
    checkNumber("job.ttl", spec.ttlMs, DURATION_MS_MAX);
    if (spec.deadline !== undefined) {
      throw invalid("job.deadline", "absent when job.ttl is given", spec.deadline);
    }
  }
  if (spec.deadline !== undefined) checkNumber("job.deadline", spec.deadline, TIME_MS_MAX);
  if (spec.maxWaitMs !== undefined) checkNumber("job.maxWait", spec.maxWaitMs, DURATION_MS_MAX);
}

function checkDedupe(spec: JobSpec): void {
  const { key, mode, windowMs } = asObject("job.dedupe", spec.dedupe);
  if (!fitsBytes(key, KEY_BYTES_MAX) || key === "") {
    throw invalid("job.dedupe.key", `a string of 1 to ${KEY_BYTES_MAX} bytes`, key);
  }
  if (!MODES.includes(mode as DedupeMode)) {
    throw invalid("job.dedupe.mode", `one of ${MODES.join(", ")}`, mode);
  }
  if (mode === "window") checkInteger("job.dedupe.window", windowMs, 1, DURATION_MS_MAX);
  else if (windowMs !== undefined) {
    throw invalid("job.dedupe.window", 'absent unless the mode is "window"', windowMs);
  }
  if (mode === "debounce" && spec.delayMs === undefined) {
    throw invalid("job.delay", 'given when job.dedupe.mode is "debounce"', spec.delayMs);
  }
}

function checkInteger(field: string, value: unknown, min: number, max: number): void {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw invalid(field, `an integer from ${min} to ${max}`, value);
  }
}

function checkNumber(field: string, value: unknown, max: number): void {
  // The comparisons are false for NaN, so it is refused with the rest.
  if (!(typeof value === "number" && value >= 0 && value <= max)) {
    throw invalid(field, `a number from 0 to ${max}`, value);
  }
}
