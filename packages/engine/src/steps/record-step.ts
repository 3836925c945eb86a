import type { Core } from "../core.ts";
import { invalid, Refusal } from "../errors.ts";
import { gateKeys } from "../facts/record.ts";
import { ID, IN_STRAND, LEASED_JOB } from "../jobs/job-fields.ts";
import { restoreBase } from "../jobs/moves.ts";
import { STEP_BYTES_MAX, STEPS_MAX } from "../limits.ts";
import { GATES } from "../ring/node-fields.ts";
import { forgetBody, needNotebook, newStep, notebookOf } from "./notebook.ts";
import { isOwnResult, stepKey } from "./step-names.ts";
import type { StepEntry, StepKind, StepName } from "./step-types.ts";

export interface StepResult extends StepName {
  kind: StepKind;
  sizeBytes: number;
  /** Undefined: the step has no result. */
  body: unknown;
  /** Of a wait: the number of the signal that it took. */
  signal?: number | undefined;
}

/**
 * The step of a leased job is done. A step that is done already stays as it was: the call was
 * repeated.
 */
export function recordStep(core: Core, row: number, result: StepResult, now: number): void {
  const known = checkStep(core, row, result);
  if (known?.isDone === true) return;
  const { bytes = 0 } = notebookOf(core, row) ?? {};
  checkBytes(bytes + result.sizeBytes);
  const { name, occurrence, kind, sizeBytes, body, signal } = result;
  const queue = core.queueOf(row);
  const id = core.jobs.num(row, ID);
  const fact = { at: now, fact: "step" as const, id, queue: queue.name, name, occurrence, kind };
  const told = { ...fact, sizeBytes, ...(body === undefined ? {} : { body }) };
  core.tell(signal === undefined ? told : { ...told, signal });
  applyStep(core, row, result, now);
}

export function applyStep(core: Core, row: number, result: StepResult, now: number): void {
  const book = needNotebook(core, row);
  const key = stepKey(result);
  const known = book.steps.get(key);
  const step = known ?? newStep(result, now);
  // Told again, from where it is kept now.
  if (known?.isDone === true) return rebind(core, step, result.body);
  step.isDone = true;
  step.at = now;
  step.sizeBytes = result.sizeBytes;
  step.body = result.body;
  step.signal = result.signal ?? -1;
  book.steps.set(key, step);
  book.bytes += result.sizeBytes;
  const taken = result.signal === undefined ? undefined : signalOf(core, row, result.signal);
  if (taken !== undefined) taken.isTaken = true;
  if (!isOwnResult(result)) core.queueOf(row).counters.steps++;
  // A delayed job that has its signal is yet to be due.
  const isRunning = core.jobs.state(row) === LEASED_JOB;
  if (isRunning && book.pending !== undefined && stepKey(book.pending) === key) {
    releaseStep(core, row, now);
    book.pending = undefined;
  }
}

function signalOf(core: Core, row: number, index: number): { isTaken: boolean } | undefined {
  return notebookOf(core, row)?.signals.find((signal) => signal.index === index);
}

export function rebind(core: Core, of: { body: unknown; sizeBytes: number }, body: unknown): void {
  if (body === undefined) return;
  forgetBody(core, of);
  of.body = body;
}

/** The leased job gives back the permits of its step: it keeps those of its own gates. */
function releaseStep(core: Core, row: number, now: number): void {
  const { base } = notebookOf(core, row)!;
  if (base === undefined) return;
  const set = core.gates.set(core.lanes.get(core.jobs.int(row, IN_STRAND), GATES));
  const released = set.gates.filter(({ key }) => !base.gates.includes(key));
  restoreBase(core, row, now);
  for (const gate of released) {
    gate.release(now);
    core.lines.changed(gate);
  }
}

/** What is known of a step; refuses another kind under its name, and one step too many. */
export function checkStep(
  core: Core,
  row: number,
  step: StepName & { kind: StepKind },
): StepEntry | undefined {
  if (isOwnResult(step)) throw invalid("name", "a name without control characters", step.name);
  const steps = notebookOf(core, row)?.steps;
  const known = steps?.get(stepKey(step));
  if (known !== undefined && known.kind !== step.kind) {
    const message =
      `step ${JSON.stringify(step.name)} was recorded as ${known.kind} and is now ${step.kind}: ` +
      "give one of them another name";
    throw new Refusal("CONFLICT", message, { field: "name", value: step.name });
  }
  if (known === undefined && (steps?.size ?? 0) >= STEPS_MAX) {
    const message = `a job has at most ${STEPS_MAX} steps: add another job for the rest`;
    throw new Refusal("LIMIT_REACHED", message, { field: "name", value: step.name });
  }
  return known;
}

export function checkBytes(bytes: number): void {
  if (bytes <= STEP_BYTES_MAX) return;
  const most = `the steps and signals of a job take at most ${STEP_BYTES_MAX} bytes`;
  const message = `${most}: with this one they would take ${bytes} bytes`;
  throw new Refusal("LIMIT_REACHED", message, { field: "value", value: bytes });
}

/** The gates of a job and of its step, without those named twice. */
export function joinedGates(
  core: Core,
  row: number,
  gates: readonly string[],
  most: number,
): readonly string[] {
  const all = [...new Set([...gateKeys(core, row), ...gates])];
  if (all.length <= most) return all;
  throw invalid("gates", `at most ${most} with those of the job`, all.length);
}
