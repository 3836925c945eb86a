/**
 * One submit and its tasks, one per indexer, until the last callback has settled.
 *
 * A task is `gathered` until its batch leaves, `queued` while its job waits, `running` while a
 * worker has it, and `over` from the moment its outcome is known; the outcome is reported once.
 */
import type { Job } from "sluice";
import type { Budget, Limited } from "./limits-of.ts";
import type { More, Outcome } from "./outcome.ts";
import type { Priority } from "./priority.ts";

export interface Indexer extends Limited {
  readonly name: string;
}

export interface ExecContext {
  readonly jobId: string;
  /** Aborted when the search is cancelled, or stopped over time. */
  readonly signal: AbortSignal;
}

/** What an indexer answered. Coverage is the indexer itself unless it is set. */
export interface Answer<Result> {
  readonly results: readonly Result[];
  readonly coverage?: readonly string[] | undefined;
  readonly more?: More | undefined;
}

/** Asks one indexer. It throws a `Fault` when it knows what a failure means for the limits. */
export type Exec<Params, Result> = (
  indexer: Indexer,
  params: Params,
  context: ExecContext,
) => Answer<Result> | Promise<Answer<Result>>;

export interface Completion<Result> extends Outcome<Result> {
  readonly jobId: string;
  readonly indexer: Indexer;
}

export interface SubmitOptions<Params, Result> {
  /** Missing ones (null, undefined) are dropped. */
  readonly indexers: readonly Indexer[];
  readonly params: Params;
  /** Absent: spaced as background, and never skipped for waiting. */
  readonly priority?: Priority | undefined;
  /** Milliseconds; 0: the default of the priority; Infinity: none. */
  readonly maxWait?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Instead of the scheduler's own. */
  readonly exec?: Exec<Params, Result> | undefined;
  readonly budget?: Budget | undefined;
  /** Wall time after which what has not started is given up. */
  readonly deadline?: number | undefined;
  /** Its tasks outlive this process: the next one is asked to continue them. */
  readonly durable?: boolean | undefined;
  /** False: an rss submit is asked even while the same one is pending. */
  readonly dedupe?: false | undefined;
  readonly onComplete?: ((completion: Completion<Result>) => unknown) | undefined;
  readonly onJobDone?: ((jobId: string) => unknown) | undefined;
}

export type TaskState = "gathered" | "queued" | "running" | "over";

export interface Task<Params, Result> {
  readonly submission: Submission<Params, Result>;
  readonly index: number;
  readonly indexer: Indexer;
  state: TaskState;
  job: Job | undefined;
  /** The result of the handler, reported when the job has ended. */
  outcome: Outcome<Result> | undefined;
  /** Why it was given up, when it was. */
  givenUp: "cancelled" | "stopped" | undefined;
}

export class Submission<Params, Result> {
  readonly id: string;
  readonly options: SubmitOptions<Params, Result>;
  readonly tasks: readonly Task<Params, Result>[];
  readonly #onError: (error: unknown) => void;
  #left: number;

  constructor(
    id: string,
    options: SubmitOptions<Params, Result>,
    onError: (error: unknown) => void,
  ) {
    this.id = id;
    this.options = options;
    this.#onError = onError;
    const indexers = options.indexers.filter((indexer) => indexer != null);
    this.#left = indexers.length;
    this.tasks = indexers.map((indexer, index) => ({
      submission: this,
      index,
      indexer,
      state: "gathered",
      job: undefined,
      outcome: undefined,
      givenUp: undefined,
    }));
  }

  get isOver(): boolean {
    return this.tasks.every(({ state }) => state === "over");
  }

  /** Tells a task's outcome, the first time only; after the last one the job is done. */
  async settle(task: Task<Params, Result>, outcome: Outcome<Result>): Promise<void> {
    if (task.state === "over") return;
    task.state = "over";
    const { onComplete } = this.options;
    await this.#call(() => onComplete?.({ jobId: this.id, indexer: task.indexer, ...outcome }));
    if (--this.#left === 0) await this.done();
  }

  async done(): Promise<void> {
    await this.#call(() => this.options.onJobDone?.(this.id));
  }

  /** A callback that throws is the user's mistake: it is reported, and stops nothing. */
  async #call(callback: () => unknown): Promise<void> {
    try {
      await callback();
    } catch (error) {
      this.#onError(error);
    }
  }
}
