/**
 * One thread or process, and the job that it runs. Its states:
 *
 *   starting  it loads the handlers
 *   idle      it waits for a job
 *   running   it has one job
 *   leaving   its job was aborted; it may still end by itself, until the grace is over
 *   over      it has ended, or is being ended: it takes nothing any more
 *
 * starting → idle when the handlers are loaded; idle → running by `take`; running → leaving by
 * `leave`; running, leaving → idle when the handler has ended; any → over when the thread ends.
 */
import type { Isolate } from "./isolate.ts";
import type { Report } from "./message.ts";
import { errorOf } from "./thrown.ts";

/** A job on its way through the pool. */
export interface Run {
  readonly number: number;
  readonly type: string;
  readonly args: unknown;
  readonly uid: string;
  readonly workerId: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly progress: (value: unknown) => Promise<void>;
  /** Its runner was ended by another job; it is run again. */
  restarts: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface RunnerEvents {
  /** It can take a job. */
  onIdle(runner: Runner): void;
  /** It is over; the job that it had is to be run again if it is not to blame. */
  onOver(runner: Runner, left: Run | undefined): void;
  /** A job has thrown after its end, or from a timer of its own. */
  onFault(run: number | undefined, error: Error): void;
  timeoutError(run: Run): Error;
}

type State = "starting" | "idle" | "running" | "leaving" | "over";

export class Runner {
  readonly #isolate: Isolate;
  readonly #events: RunnerEvents;
  readonly #graceMs: number;
  #state: State = "starting";
  #run: Run | undefined = undefined;
  /** Why its job was aborted. */
  #reason: unknown = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** The job that has ended the thread, when it says so. */
  #blamed: { run: number | undefined } | undefined = undefined;
  /** It has seen a fault: it takes no further job. */
  #isSpoiled = false;
  idleSince = 0;

  constructor(isolate: Isolate, events: RunnerEvents, graceMs: number) {
    this.#isolate = isolate;
    this.#events = events;
    this.#graceMs = graceMs;
  }

  get state(): State {
    return this.#state;
  }

  take(run: Run): void {
    this.#state = "running";
    this.#run = run;
    const { number, type, args, uid, workerId, timeoutMs } = run;
    this.#timer = setTimeout(() => this.#leave(this.#events.timeoutError(run)), timeoutMs);
    run.signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#isolate.send({ order: "run", run: number, type, args, uid, workerId });
    if (run.signal.aborted) this.#onAbort();
  }

  end(): void {
    this.#state = "over";
    this.#isolate.end();
  }

  hear(report: Report): void {
    switch (report.report) {
      case "ready":
        return this.#rest();
      case "finished":
      case "failed":
        if (report.run === this.#run?.number) this.#ended(report);
        return;
      case "progress":
        return this.#progress(report.progress, report.value);
      case "fault":
        return this.#fault(report.run, errorOf(report.thrown));
      case "exiting":
        this.#blamed = { run: report.run };
    }
  }

  /** The thread is no more. */
  over(why: string): void {
    this.#state = "over";
    const reason = this.#reason;
    const run = this.#release();
    const isOwnFault = this.#blamed === undefined || this.#blamed.run === run?.number;
    if (reason === undefined && !isOwnFault) return this.#events.onOver(this, run);
    run?.reject(reason ?? new Error(`the handler did not end: ${why}`));
    this.#events.onOver(this, undefined);
  }

  readonly #onAbort = (): void => this.#leave(this.#run?.signal.reason);

  /** Aborts the handler. If it does not end in time, its thread is ended. */
  #leave(reason: unknown): void {
    if (this.#state !== "running") return;
    this.#state = "leaving";
    this.#reason = reason;
    clearTimeout(this.#timer);
    const text = reason instanceof Error ? reason.message : String(reason);
    this.#isolate.send({ order: "abort", run: this.#run!.number, reason: text });
    this.#timer = setTimeout(() => this.end(), this.#graceMs);
  }

  #ended(report: Extract<Report, { report: "finished" | "failed" }>): void {
    const reason = this.#reason;
    const run = this.#release()!;
    if (reason !== undefined) run.reject(reason);
    else if (report.report === "failed") run.reject(errorOf(report.thrown));
    else run.resolve(report.result === undefined ? null : JSON.parse(report.result));
    this.#rest();
  }

  #rest(): void {
    if (this.#state === "over") return;
    if (this.#isSpoiled) return this.end();
    this.#state = "idle";
    this.#events.onIdle(this);
  }

  #progress(progress: number, value: unknown): void {
    const told = this.#run?.progress(value) ?? Promise.reject(new Error("the job is over"));
    told.then(
      () => this.#isolate.send({ order: "progressed", progress }),
      ({ message }: Error) => this.#isolate.send({ order: "progressed", progress, error: message }),
    );
  }

  /** What a handler threw outside of its own call. The thread may be damaged by it. */
  #fault(number: number | undefined, error: Error): void {
    this.#isSpoiled = true;
    if (number !== undefined && number === this.#run?.number) {
      const reason = this.#reason ?? error;
      this.#release()!.reject(reason);
      this.end();
      return;
    }
    this.#events.onFault(number, error);
    if (this.#state === "idle") this.end();
  }

  #release(): Run | undefined {
    clearTimeout(this.#timer);
    const run = this.#run;
    run?.signal.removeEventListener("abort", this.#onAbort);
    this.#run = undefined;
    this.#reason = undefined;
    return run;
  }
}
