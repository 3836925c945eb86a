/**
 * The steps of a handler. A step that is done is remembered: its result is in the log before
 * `run` resolves, and the next run of the handler gets it instead of running the step.
 *
 * A step that has to wait (for gates, a time or a signal) suspends the job. Its lease ends, no
 * worker waits, and the handler runs again from its beginning when the wait is over. So the promise
 * of a suspended step never settles: neither `catch` nor `finally` of the handler runs.
 */
import {
  checkStepName,
  type Duration,
  invalid,
  parseDuration,
  parseStep,
  parseWait,
  SluiceError,
  STEPS_MAX,
  type StepInfo,
  type StepKind,
  type StepName,
  type StepOptions,
  type StepsInfo,
  type Suspension,
  TIME,
  type Time,
  type WaitOptions,
} from "@sluice/protocol";
import { RetryAfter, textOf, Unrecoverable } from "./errors.ts";
import { checkJson } from "./payload.ts";
import { StepsUnderWay, type StepUnderWay } from "./steps-under-way.ts";

/** What a handler does in steps. The functions may be taken out of the object. */
export interface Steps {
  /**
   * Runs `fn` once for each job: its result, anything that JSON can carry in 1 MiB, is durable when
   * this resolves, and is answered without `fn` after a crash or a retry. With `gates`, the job
   * first waits for them without a worker.
   */
  readonly run: <T>(
    name: string,
    fn: () => T | Promise<T>,
    options?: StepOptions,
  ) => Promise<Awaited<T>>;
  readonly sleep: (duration: Duration) => Promise<void>;
  readonly until: (time: Time) => Promise<void>;
  /** The value of the signal of this name; undefined when none came in time. */
  readonly waitFor: <T = unknown>(name: string, options?: WaitOptions) => Promise<T | undefined>;
}

/** What steps need from the part that keeps the lease of their job. */
export interface StepLease {
  /** The job had steps when it was delivered. */
  readonly hasSteps: boolean;
  /** A page of what is recorded. */
  steps(cursor: string | undefined): Promise<StepsInfo>;
  record(step: StepName & { value?: unknown }): Promise<void>;
  /** True: the lease is over, and this run with it. */
  suspend(of: Omit<Suspension, "lease">): Promise<boolean>;
}

/** What is known of the job's steps. */
interface Known {
  readonly steps: Map<string, StepInfo>;
  /** The step whose gates the job has passed. */
  granted: string | undefined;
}

const keyOf = ({ name, occurrence }: StepName): string => `${occurrence} ${name}`;

export class JobSteps implements Steps {
  readonly #lease: StepLease;
  readonly #counts = new Map<string, number>();
  readonly #kinds = new Map<string, StepKind>();
  readonly #underWay = new StepsUnderWay();
  #count = 0;
  #known: Promise<Known> | undefined = undefined;
  /** The suspension that is asked for; true: the run is over. */
  #suspending: Promise<boolean> = Promise.resolve(false);

  constructor(lease: StepLease) {
    this.#lease = lease;
  }

  readonly run = async <T>(
    name: string,
    fn: () => T | Promise<T>,
    options: StepOptions = {},
  ): Promise<Awaited<T>> => {
    checkName(name);
    if (typeof fn !== "function") throw invalid(`step ${JSON.stringify(name)}`, "a function", fn);
    const parsed = parseStep(options);
    const of = this.#next(name, "run");
    const hasGates = parsed.gates !== undefined && parsed.gates.length > 0;
    if (hasGates) this.#underWay.checkGates(name);
    const step = this.#underWay.begin(name, hasGates);
    try {
      return (await this.#run(of, step, fn, parsed)) as Awaited<T>;
    } finally {
      this.#underWay.end(step);
    }
  };

  async #run(
    of: StepName & { kind: StepKind },
    underWay: StepUnderWay,
    fn: () => unknown,
    { gates = [], cost, retry }: ReturnType<typeof parseStep>,
  ): Promise<unknown> {
    const known = await this.#load();
    const step = this.#find(known, of);
    if (step?.isDone === true) return step.value;
    const suspension = { ...of, ...(gates.length > 0 ? { gates, cost } : {}) };
    if (gates.length > 0 && known.granted !== keyOf(of)) await this.#suspend(suspension, underWay);
    if (known.granted === keyOf(of)) known.granted = undefined;
    try {
      return await this.#do(known, of, () => this.#underWay.run(underWay, fn));
    } catch (error) {
      const failures = (step?.failures ?? 0) + 1;
      const isFinal = error instanceof Unrecoverable || error instanceof RetryAfter;
      if (retry === undefined || isFinal || failures >= retry.attempts || isLosing(error)) {
        throw error;
      }
      const delayMs = backoffMs(retry, failures);
      await this.#suspend({ ...suspension, delayMs, failures, error: textOf(error) }, underWay);
      throw error;
    }
  }

  readonly sleep = async (duration: Duration): Promise<void> => {
    const delayMs = parseDuration("sleep", duration);
    await this.#wait(this.#next("", "sleep"), { delayMs });
  };

  readonly until = async (time: Time): Promise<void> => {
    const runAt = TIME.parse("until", time);
    await this.#wait(this.#next("", "sleep"), { runAt });
  };

  readonly waitFor = async <T = unknown>(
    name: string,
    options: WaitOptions = {},
  ): Promise<T | undefined> => {
    checkName(name);
    const { timeoutMs } = parseWait(options);
    const step = await this.#wait(this.#next(name, "wait"), { delayMs: timeoutMs });
    return step.value as T | undefined;
  };

  /** Each name of a run has one kind, and counts. */
  #next(name: string, kind: StepKind): StepName & { kind: StepKind } {
    const before = this.#kinds.get(name);
    if (before !== undefined && before !== kind) throw otherKind(name, before, kind);
    // Before it runs: its result would be refused.
    if (++this.#count > STEPS_MAX) throw tooMany(name);
    this.#kinds.set(name, kind);
    const occurrence = this.#counts.get(name) ?? 0;
    this.#counts.set(name, occurrence + 1);
    return { name, occurrence, kind };
  }

  #find(known: Known, of: StepName & { kind: StepKind }): StepInfo | undefined {
    const step = known.steps.get(keyOf(of));
    if (step !== undefined && step.kind !== of.kind) throw otherKind(of.name, step.kind, of.kind);
    return step;
  }

  /** Does the work, and records its result. */
  async #do(known: Known, of: StepName & { kind: StepKind }, fn: () => unknown): Promise<unknown> {
    const result: unknown = await fn();
    const { name, occurrence, kind } = of;
    let value: unknown;
    if (result !== undefined) {
      checkJson(`the result of step ${JSON.stringify(name)}`, result);
      // As the next run gets it: a date, say, is a text then.
      value = JSON.parse(JSON.stringify(result));
    }
    const told = value === undefined ? {} : { value };
    await this.#lease.record({ name, occurrence, ...told });
    known.steps.set(keyOf(of), { name, occurrence, kind, at: 0, isDone: true, ...told });
    return value;
  }

  /** A step that is over by itself, or by a signal. */
  async #wait(
    of: StepName & { kind: StepKind },
    until: { delayMs?: number | undefined; runAt?: number | undefined },
  ): Promise<StepInfo> {
    const known = await this.#load();
    const step = this.#find(known, of);
    if (step?.isDone === true) return step;
    await this.#suspend({ ...of, ...until });
    // It is done already: the signal had come, or the time was over.
    this.#known = this.#read(true);
    return (await this.#known).steps.get(keyOf(of))!;
  }

  /**
   * Settles only when there was no need to suspend. Other steps of the run are recorded first, and
   * of several suspensions the first ends the run.
   */
  async #suspend(of: Omit<Suspension, "lease">, step?: StepUnderWay): Promise<void> {
    if (step !== undefined) this.#underWay.end(step);
    await this.#underWay.others();
    const before = this.#suspending.catch(() => false);
    this.#suspending = before.then((isOver) => isOver || this.#lease.suspend(of));
    const isSuspended = await this.#suspending;
    if (isSuspended) await new Promise(() => {});
  }

  #load(): Promise<Known> {
    this.#known ??= this.#read(this.#lease.hasSteps);
    return this.#known;
  }

  async #read(hasSteps: boolean): Promise<Known> {
    const steps = new Map<string, StepInfo>();
    if (!hasSteps) return { steps, granted: undefined };
    let cursor: string | undefined;
    let granted: string | undefined;
    do {
      const page = await this.#lease.steps(cursor);
      for (const step of page.items) steps.set(keyOf(step), step);
      granted = page.pending?.kind === "run" ? keyOf(page.pending) : undefined;
      ({ cursor } = page);
    } while (cursor !== undefined);
    return { steps, granted };
  }
}

/** Sleeps have the name that is empty. */
function checkName(name: string): void {
  checkStepName(name, 0);
  if (name === "") throw invalid("name", "the name of a step", name);
}

function tooMany(name: string): SluiceError {
  const message = `a job has at most ${STEPS_MAX} steps: add another job for the rest`;
  return new SluiceError("LIMIT_REACHED", message, { field: "name", value: name });
}

function otherKind(name: string, before: StepKind, now: StepKind): SluiceError {
  const kinds = `a ${before} and a ${now}`;
  const message = `step ${JSON.stringify(name)} is ${kinds}: give one of them another name`;
  return new SluiceError("CONFLICT", message, { field: "name", value: name });
}

/** The job is not ours any more: there is nothing to retry. */
function isLosing(error: unknown): boolean {
  return error instanceof SluiceError && (error.code === "LEASE_LOST" || error.code === "CLOSED");
}

function backoffMs(
  { minMs, maxMs, factor, jitter }: NonNullable<ReturnType<typeof parseStep>["retry"]>,
  failures: number,
): number {
  const growth = Math.min(factor ** (failures - 1), Number.MAX_VALUE);
  return Math.round(Math.min(maxMs, minMs * growth) * (1 - jitter * Math.random()));
}
