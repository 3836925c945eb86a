import type { Core } from "../core.ts";
import { gateKeys } from "../facts/record.ts";
import { COST, ID } from "../jobs/job-fields.ts";
import { changeStrand, note, putBackInPlace, unhold } from "../jobs/moves.ts";
import { JOB_GATES_MAX } from "../limits.ts";
import { checkCost } from "../verbs/add.ts";
import { watchWaits } from "../verbs/begin.ts";
import { expireIfLate } from "../verbs/fail.ts";
import { needNotebook, newStep } from "./notebook.ts";
import { checkStep, joinedGates, recordStep } from "./record-step.ts";
import { stepKey } from "./step-names.ts";
import type { Pending, StepKind, StepName } from "./step-types.ts";

/** What a leased job is suspended for. */
export interface Suspension extends StepName {
  kind: StepKind;
  /** Until when it sleeps, waits for a signal at the longest, or is not retried. */
  until: number;
  /** Gates of the step, and what it takes from all gates of the job. */
  gates?: readonly string[] | undefined;
  cost?: number | undefined;
  /** The step has failed: how often by now, and of what. */
  failures?: number | undefined;
  error?: string | undefined;
}

/**
 * Suspends a leased job. It counts neither as an attempt nor as a delivery. False: there was no
 * need to, because the signal has come before or the time is over, and the step is done.
 */
export function suspend(core: Core, row: number, of: Suspension, now: number): boolean {
  const known = checkStep(core, row, of);
  if (known?.isDone === true) return false;
  const id = core.jobs.num(row, ID);
  const signal = of.kind === "wait" ? earliest(core, row, of.name) : undefined;
  const isOver = of.kind !== "run" && of.until <= now;
  if (signal !== undefined || isOver) {
    const { name, occurrence, kind } = of;
    recordStep(core, row, { name, occurrence, kind, sizeBytes: 0, body: undefined, signal }, now);
    return false;
  }
  const gates = of.gates ?? [];
  if (gates.length > 0) {
    const all = joinedGates(core, row, gates, JOB_GATES_MAX);
    checkCost(core.gates.setOf(all, now), of.cost ?? core.jobs.int(row, COST));
  }
  if (expireIfLate(core, row, now)) return true;
  const { name, occurrence, kind, until, failures = 0, error } = of;
  const cost = of.cost ?? core.jobs.int(row, COST);
  const told = { name, occurrence, kind, until, gates, cost, failures };
  const fact = { at: now, fact: "suspended" as const, id, queue: core.queueOf(row).name, ...told };
  core.tell(error === undefined ? fact : { ...fact, error });
  applySuspend(core, row, error === undefined ? told : { ...told, error }, now);
  return true;
}

/** The first signal of this name that no step has taken. */
function earliest(core: Core, row: number, name: string): number | undefined {
  const signals = core.jobs.extra(row)?.steps?.signals;
  return signals?.find((signal) => signal.name === name && !signal.isTaken)?.index;
}

export function applySuspend(
  core: Core,
  row: number,
  of: Suspension & { cost: number },
  now: number,
): void {
  const { name, occurrence, kind, until, gates = [], cost, failures = 0, error } = of;
  note(core, row, "suspended", now, textOf(of));
  unhold(core, row, now);
  const { jobs } = core;
  // The hand-out that ends here does not count.
  jobs.needExtra(row).leasesBefore++;
  core.queueOf(row).counters.suspended++;
  const book = needNotebook(core, row);
  const pending: Pending = { name, occurrence, kind };
  book.pending = pending;
  if (failures > 0) {
    const step = book.steps.get(stepKey(pending)) ?? newStep(pending, now);
    book.steps.set(stepKey(pending), { ...step, at: now, failures, error });
  }
  if (gates.length > 0) {
    const own = gateKeys(core, row);
    book.base = { gates: own, cost: jobs.int(row, COST) };
    jobs.setInt(row, COST, cost);
    const set = core.gates.setOf([...new Set([...own, ...gates])], now);
    changeStrand(core, row, core.strandOf(core.laneOf(row), set));
  }
  putBackInPlace(core, row, until, now);
  if (until <= now) watchWaits(core, row);
}

function textOf({ kind, name, failures = 0, error }: Suspension): string {
  if (failures > 0) return `run ${name} failed: ${error}`;
  return name === "" ? kind : `${kind} ${name}`;
}
