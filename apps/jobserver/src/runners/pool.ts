/**
 * Runs the handlers of a user's module apart from the server, one job per thread or process at a
 * time. A handler that computes, throws late or exits harms its own job only, and its time limit
 * holds: a thread that does not end its job is ended.
 *
 * Jobs that have come in the same turn are handed out together. Those of types that are known to be
 * small go to a thread as a list; what it has not begun can be taken back at any time.
 */
import { BadHandlers } from "../handlers/load.ts";
import {
  GRACE_MS,
  IDLE_MS,
  LIST_JOBS_MAX,
  LIST_MS,
  LIST_TIMEOUT_MS_MIN,
  RESTARTS_MAX,
} from "../limits.ts";
import type { Log } from "../log.ts";
import { Board } from "./board.ts";
import { openIsolate } from "./isolate.ts";
import type { Report } from "./message.ts";
import { Pace } from "./pace.ts";
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

export type NewRun = Omit<Run, "number" | "restarts" | "isWatched" | "resolve" | "reject">;

export class HandlerPool {
  readonly #options: PoolOptions;
  readonly #runners = new Set<Runner>();
  /** The one that ran last is taken first: its code is warm, and the others may be ended. */
  readonly #idle: Runner[] = [];
  #waiting: Run[] = [];
  readonly #pace = new Pace();
  #runs = 0;
  #isHandingOut = false;
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
      const own = { number: ++this.#runs, restarts: 0, isWatched: false, resolve, reject };
      this.#waiting.push({ ...job, ...own });
      if (this.#isHandingOut) return;
      this.#isHandingOut = true;
      queueMicrotask(() => this.#handOut());
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#trimming);
    this.#refuse();
    for (const runner of this.#runners) runner.end();
  }

  #refuse(): void {
    for (const run of this.#waiting.splice(0)) run.reject(new Error("the server was closed"));
  }

  #takeIdle(): Runner | undefined {
    for (;;) {
      const runner = this.#idle.pop();
      if (runner === undefined || runner.state === "idle") return runner;
    }
  }

  #handOut(): void {
    this.#isHandingOut = false;
    if (this.#isClosed) return this.#refuse();
    while (this.#waiting.length > 0) {
      const runner = this.#takeIdle();
      if (runner === undefined) break;
      const [first, ...more] = this.#nextFor(runner);
      if (first === undefined) this.#idle.push(runner);
      else if (more.length === 0) runner.take(first);
      else runner.takeList([first, ...more]);
    }
    for (const run of this.#waiting) this.#watch(run);
    this.#fill();
  }

  /** The job that waits longest and, if it is small, small ones after it. */
  #nextFor({ takesLists }: Runner): Run[] {
    const next: Run[] = [];
    let ms = 0;
    for (let run = this.#waiting[0]; run !== undefined; run = this.#waiting[0]) {
      if (run.signal.aborted) {
        this.#drop(run);
        continue;
      }
      ms += this.#pace.of(run.type);
      const isListed = takesLists && run.timeoutMs >= LIST_TIMEOUT_MS_MIN && ms <= LIST_MS;
      if (next.length > 0 && !isListed) break;
      next.push(this.#waiting.shift()!);
      if (!isListed || next.length === LIST_JOBS_MAX) break;
    }
    return next;
  }

  /** One more thread for each job, or list of small ones, that waits, up to the limit. */
  #fill(): void {
    const states = Array.from(this.#runners, ({ state }) => state);
    let starting = states.filter((state) => state === "starting").length;
    const { large, lists } = this.#wanted();
    // What works through a list is free again in a moment.
    const listed = states.filter((state) => state === "listed").length;
    const wanted = large + Math.max(0, lists - listed);
    while (!this.#isClosed && starting < wanted && this.#live < this.#options.max) {
      this.#start();
      starting += 1;
    }
  }

  #wanted(): { large: number; lists: number } {
    let large = 0;
    let smallMs = 0;
    let small = 0;
    for (const { type } of this.#waiting) {
      if (this.#options.kind === "process" || !this.#pace.isSmall(type)) {
        large += 1;
        continue;
      }
      small += 1;
      smallMs += this.#pace.of(type);
    }
    return { large, lists: Math.ceil(Math.max(smallMs / LIST_MS, small / LIST_JOBS_MAX)) };
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
    const board = kind === "thread" ? new Board() : undefined;
    const runner = new Runner(isolate, board, this.#events, GRACE_MS);
    this.#runners.add(runner);
    isolate.send({ order: "load", module, nice, board: board?.memory });
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
      runner.idleSince = performance.now();
      this.#idle.push(runner);
      if (this.#waiting.length > 0) this.#handOut();
    },
    onBack: (runs) => {
      this.#waiting.unshift(...runs);
      this.#handOut();
    },
    onTook: ({ type }, tookMs) => this.#pace.learn(type, tookMs),
    onOver: (runner, left) => {
      this.#runners.delete(runner);
      if (left !== undefined) this.#again(left);
      this.#handOut();
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

  /** It may be cancelled while it waits. */
  #watch(run: Run): void {
    if (run.isWatched) return;
    run.isWatched = true;
    run.signal.addEventListener("abort", () => this.#drop(run), { once: true });
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
