import { matchesPattern, type NewJob, SluiceError } from "@sluice/protocol";
import { JOB_GATES_MAX } from "../limits.ts";
import { forbiddenGate } from "./grant.ts";

/**
 * Why a job may not be added with the gates that it names; undefined: it may, or the broker refuses
 * it. `nameable`: patterns of gates that the key may name; undefined: all.
 */
export function refuseGates(
  nameable: readonly string[] | undefined,
  job: NewJob,
): SluiceError | undefined {
  const gates: unknown = job?.gates;
  if (nameable === undefined || !Array.isArray(gates)) return undefined;
  // Each name is held against every pattern, so there must not be too many.
  if (gates.length > JOB_GATES_MAX) return tooMany(gates.length);
  const mayName = (gate: unknown): boolean =>
    nameable.some((pattern) => matchesPattern(pattern, String(gate)));
  const foreign = gates.find((gate) => !mayName(gate));
  return foreign === undefined ? undefined : forbiddenGate("name", String(foreign).slice(0, 64));
}

function tooMany(count: number): SluiceError {
  const message = `job.gates must be an array of at most ${JOB_GATES_MAX} names, got ${count}`;
  return new SluiceError("INVALID", message, { field: "job.gates", value: count });
}
