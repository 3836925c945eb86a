import type { Core } from "../core.ts";
import type { SignalledFact, StepFact } from "../facts/facts.ts";
import { recordStep, type StepResult } from "./record-step.ts";
import { type Signal, signal } from "./signal.ts";
import { partOf } from "./steps-record.ts";
import { type Suspension, suspend } from "./suspend.ts";

/** What can be done with the steps of jobs. */
export class StepVerbs {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** A step of a leased job is done: its result is never made again. */
  record(id: number, lease: number, result: StepResult, now: number): void {
    const at = this.#core.clock(now);
    recordStep(this.#core, this.#core.leasedRow(id, lease), result, at);
    if (!this.#core.lines.isSettled) this.#core.lines.settle(at);
  }

  /** Suspends a leased job for a step; false: the step is done already, and the job runs on. */
  suspend(id: number, lease: number, of: Suspension, now: number): boolean {
    const at = this.#core.clock(now);
    const isSuspended = suspend(this.#core, this.#core.leasedRow(id, lease), of, at);
    this.#core.lines.settle(at);
    return isSuspended;
  }

  /** Sends a value to a job; one that no step waits for yet is kept. */
  signal(id: number, of: Omit<Signal, "index">, now: number): void {
    const at = this.#core.clock(now);
    signal(this.#core, this.#core.keptRow(id), of, at);
    this.#core.lines.settle(at);
  }

  /** The body of a result or a signal; undefined when there is none any more. */
  body(fact: StepFact | SignalledFact): unknown {
    return partOf(this.#core, fact)?.body;
  }

  /** The same thing, kept elsewhere; false: it is another by now, or is forgotten. */
  setBody(fact: StepFact | SignalledFact, from: unknown, to: unknown): boolean {
    const part = partOf(this.#core, fact);
    if (part === undefined || part.body !== from) return false;
    part.body = to;
    return true;
  }
}
