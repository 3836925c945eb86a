/**
 * Runs the handlers of a user's module apart from the server, one job per thread or process at a
 * time. A handler that computes, throws late or exits harms its own job only, and its time limit
 * holds: a thread that does not end its job is ended.
 */
import { BadHandlers } from "../handlers/load.ts";
import { GRACE_MS, IDLE_MS, RESTARTS_MAX } from "../limits.ts";
import type { Log } from "../log.ts";
import { openIsolate } from "./isolate.ts";
import type { Report } from "./message.ts";
import { type Run, Runner, type RunnerEvents } from "./runner.ts";

export interface PoolOptions {
  /** The path of the module whose exports are the handlers. */
  readonly module: string;
  readonly kind: "thread" | "process";
  /** Jobs at once, which is threads at once. */
  readonly max: number;
  readonly heapMib: number;
  /** How much the handlers yield to the server: 0 not at all, 19 most. */
  readonly nice: number;
  readonly timeoutError: (run: Run) => Error;
  readonly log: Log;
}

export type NewRun = Omit<Run, "number" | "restarts" | "resolve" | "reject">;

export class HandlerPool {
  readonly #options: PoolOptions;
  readonly #runners = new Set<Runner>();
  /** The one that ran last is taken first: its code is warm, and the others may be ended. */
  readonly #idle: Runner[] = [];
  #waiting: Run[] = [];
  #runs = 0;
  #isClosed = false;
  readonly #loaded = Promise.withResolvers<readonly string[]>();
  #trimming: NodeJS.Timeout | undefined = undefined;
  types: readonly string[] = [];

  private constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a first thread has loaded the module. Rejects with the reason if it cannot be
   * loaded.
   */
  static async open(options: PoolOptions): Promise<HandlerPool> {
    const pool = new HandlerPool(options);
    pool.#start();
    try {
      pool.types = await pool.#loaded.promise;
    } catch (error) {
      pool.close();
      throw error;
    }
    pool.#trimming = setInterval(() => pool.#trim(), IDLE_MS).unref();
    return pool;
  }

  run(job: NewRun): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const run: Run = { ...job, number: ++this.#runs, restarts: 0, resolve, reject };
      const runner = this.#takeIdle();
      if (runner !== undefined) return runner.take(run);
      this.#waiting.push(run);
      run.signal.addEventListener("abort", () => this.#drop(run), { once: true });
      this.#fill();
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#trimming);
    for (const run of this.#waiting.splice(0)) run.reject(new Error("the server was closed"));
    for (const runner of this.#runners) runner.end();
  }

  #takeIdle(): Runner | undefined {
    for (;;) {
      const runner = this.#idle.pop();
      if (runner === undefined || runner.state === "idle") return runner;
    }
  }

  /** One more thread for each job that waits, up to the limit. */
  #fill(): void {
    let starting = 0;
    for (const { state } of this.#runners) if (state === "starting") starting += 1;
    while (!this.#isClosed && starting < this.#waiting.length && this.#live < this.#options.max) {
      this.#start();
      starting += 1;
    }
  }

  get #live(): number {
    return this.#runners.size;
  }

  #start(): void {
    const { kind, heapMib, module, nice } = this.#options;
    const isolate = openIsolate({
      kind,
      heapMib,
      onReport: (report) => this.#hear(runner, report),
      onOver: (why) => {
        this.#loaded.reject(new BadHandlers(`${module} cannot be loaded: ${why}`));
        runner.over(why);
      },
    });
    const runner = new Runner(isolate, this.#events, GRACE_MS);
    this.#runners.add(runner);
    isolate.send({ order: "load", module, nice });
  }

  #hear(runner: Runner, report: Report): void {
    if (report.report === "ready") this.#loaded.resolve(report.types);
    if (report.report !== "refused") return runner.hear(report);
    const error = new BadHandlers(report.message);
    this.#loaded.reject(error);
    // It loaded when the server started: the file has changed since. Jobs that wait say so.
    this.#waiting.shift()?.reject(error);
    runner.end();
  }

  readonly #events: RunnerEvents = {
    onIdle: (runner) => {
      const run = this.#waiting.shift();
      if (run !== undefined) return runner.take(run);
      runner.idleSince = performance.now();
      this.#idle.push(runner);
    },
    onOver: (runner, left) => {
      this.#runners.delete(runner);
      if (left !== undefined) this.#again(left);
      this.#fill();
    },
    onFault: (run, error) => {
      const whose = run === undefined ? "a handler" : `a handler whose job had ended`;
      this.#options.log.error(`${whose} threw ${error.name}: ${error.message}`);
    },
    timeoutError: (run) => this.#options.timeoutError(run),
  };

  /** Another job has ended its thread. */
  #again(run: Run): void {
    run.restarts += 1;
    if (run.restarts <= RESTARTS_MAX) this.#waiting.unshift(run);
    else run.reject(new Error(`other jobs ended its thread ${run.restarts} times`));
  }

  #drop(run: Run): void {
    const at = this.#waiting.indexOf(run);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    run.reject(run.signal.reason);
  }

  /** Threads that nothing was to do for are ended, but one. */
  #trim(): void {
    const before = performance.now() - IDLE_MS;
    while (this.#idle.length > 1 && this.#idle[0]!.idleSince < before) this.#idle.shift()!.end();
  }
}
