/**
 * One thread or process, and what it runs. Its states:
 *
 *   starting  it loads the handlers
 *   idle      it waits for jobs
 *   listed    it works through a list of small jobs, one after the other
 *   running   it has one job
 *   leaving   its job was aborted; it may still end by itself, until the grace is over
 *   over      it has ended, or is being ended: it takes nothing any more
 *
 * starting → idle when the handlers are loaded; idle → running by `take`; idle → listed by
 * `takeList`; listed → running when the list took too long, or a handler threw outside of its call:
 * jobs that have not begun are taken back, and the one that runs is its job from then on;
 * running → leaving by `leave`; listed, running, leaving → idle when all has ended;
 * any → over when the thread ends.
 */
import { LIST_LOOK_MS, LIST_STUCK_MS } from "../limits.ts";
import type { Board } from "./board.ts";
import type { Isolate } from "./isolate.ts";
import type { Report, RunOrder } from "./message.ts";
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
  /** The pool drops it when it is aborted while it waits. */
  isWatched: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface RunnerEvents {
  /** It can take a job. */
  onIdle(runner: Runner): void;
  /** Jobs that it was handed and has not begun: the first to run, elsewhere. */
  onBack(runs: readonly Run[]): void;
  /** A handler has answered. */
  onTook(run: Run, tookMs: number): void;
  /** It is over; the job that it had is to be run again if it is not to blame. */
  onOver(runner: Runner, left: Run | undefined): void;
  /** A job has thrown after its end, or from a timer of its own. */
  onFault(run: number | undefined, error: Error): void;
  timeoutError(run: Run): Error;
}

type EndReport = Extract<Report, { report: "finished" | "failed" }>;
type State = "starting" | "idle" | "listed" | "running" | "leaving" | "over";

export class Runner {
  readonly #isolate: Isolate;
  readonly #board: Board | undefined;
  readonly #events: RunnerEvents;
  readonly #graceMs: number;
  #state: State = "starting";
  #run: Run | undefined = undefined;
  /** By their places on the board; undefined: it is settled, taken back, or is now `#run`. */
  #list: (Run | undefined)[] = [];
  /** The thread has not reported the end of its list. */
  #isListed = false;
  /** Why its job was aborted. */
  #reason: unknown = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** The job that has ended the thread, when it says so. */
  #blamed: { run: number | undefined } | undefined = undefined;
  /** It has seen a fault: it takes no further job. */
  #isSpoiled = false;
  idleSince = 0;

  constructor(isolate: Isolate, board: Board | undefined, events: RunnerEvents, graceMs: number) {
    this.#isolate = isolate;
    this.#board = board;
    this.#events = events;
    this.#graceMs = graceMs;
  }

  get state(): State {
    return this.#state;
  }

  /** It can be handed several jobs. */
  get takesLists(): boolean {
    return this.#board !== undefined;
  }

  take(run: Run): void {
    this.#isolate.send({ order: "run", ...orderOf(run) });
    this.#adopt(run, run.timeoutMs);
  }

  /** Neither times nor signals of small jobs are watched before `LIST_LOOK_MS` are over. */
  takeList(runs: readonly Run[]): void {
    this.#state = "listed";
    this.#list = [...runs];
    this.#isListed = true;
    this.#board!.clear();
    this.#watch(LIST_LOOK_MS, () => this.#look(LIST_LOOK_MS));
    this.#isolate.send({ order: "list", jobs: runs.map(orderOf) });
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
        return this.#ended(report);
      case "listed":
        return this.#listed();
      case "progress":
        return this.#progress(report);
      case "fault":
        return this.#fault(report.run, errorOf(report.thrown));
      case "exiting":
        this.#blamed = { run: report.run };
    }
  }

  /** The thread is no more. */
  over(why: string): void {
    this.#look(0);
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

  #ended(report: EndReport): void {
    const place = this.#list.findIndex((run) => run?.number === report.run);
    const listed = place === -1 ? undefined : this.#cross(place);
    if (report.run !== this.#run?.number) {
      if (listed !== undefined) this.#settle(listed, report);
      return;
    }
    const reason = this.#reason;
    this.#settle(this.#release()!, report, reason);
    if (!this.#isListed) this.#rest();
  }

  #settle(run: Run, report: EndReport, reason?: unknown): void {
    if (report.report === "finished") this.#events.onTook(run, report.tookMs);
    if (reason !== undefined) run.reject(reason);
    else if (report.report === "failed") run.reject(errorOf(report.thrown));
    else run.resolve(report.result === undefined ? null : JSON.parse(report.result));
  }

  #cross(place: number): Run {
    const run = this.#list[place]!;
    this.#list[place] = undefined;
    return run;
  }

  /** Settles the jobs of the list whose results are on the board. */
  #collect(): void {
    for (const [place, run] of this.#list.entries()) {
      const done = run && this.#board!.read(place);
      if (done === undefined) continue;
      this.#ended({ report: "finished", run: run!.number, ...done });
    }
  }

  #listed(): void {
    this.#isListed = false;
    clearTimeout(this.#timer);
    this.#collect();
    if (this.#run === undefined) this.#rest();
  }

  /**
   * The list is not over after this time: takes back what has not begun, and makes the job that
   * runs the one of this thread.
   */
  #look(sinceMs: number): void {
    if (!this.#isListed) return;
    this.#collect();
    const back: Run[] = [];
    for (const [place, run] of this.#list.entries()) {
      if (run === undefined || run === this.#run) continue;
      if (this.#board!.takeBack(place)) back.push(this.#cross(place));
      else if (this.#board!.isRunning(place)) this.#adopt(run, run.timeoutMs - sinceMs);
    }
    // It has nothing to do but to report the end, unless a timer of an earlier job computes.
    if (this.#run === undefined) this.#watch(LIST_STUCK_MS, () => this.end());
    if (back.length > 0) this.#events.onBack(back);
  }

  #adopt(run: Run, timeoutMs: number): void {
    this.#state = "running";
    this.#run = run;
    this.#watch(timeoutMs, () => this.#leave(this.#events.timeoutError(run)));
    run.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (run.signal.aborted) this.#onAbort();
  }

  #watch(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  #rest(): void {
    if (this.#state === "over") return;
    if (this.#isSpoiled) return this.end();
    this.#state = "idle";
    this.#events.onIdle(this);
  }

  #progress({ run: number, progress, value }: Extract<Report, { report: "progress" }>): void {
    const run = [this.#run, ...this.#list].find((one) => one?.number === number);
    const told = run?.progress(value) ?? Promise.reject(new Error("the job is over"));
    told.then(
      () => this.#isolate.send({ order: "progressed", progress }),
      ({ message }: Error) => this.#isolate.send({ order: "progressed", progress, error: message }),
    );
  }

  /** What a handler threw outside of its own call. The thread may be damaged by it. */
  #fault(number: number | undefined, error: Error): void {
    this.#isSpoiled = true;
    this.#look(0);
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

function orderOf({ number, type, args, uid, workerId }: Run): RunOrder {
  return { run: number, type, args, uid, workerId };
}
