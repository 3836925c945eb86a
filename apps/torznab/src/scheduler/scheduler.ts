/**
 * Searches over indexers with limits, on one Sluice queue: a tier per priority, a gate per indexer,
 * a group per submit. What waits, what is skipped and what goes next the queue decides; here is
 * only what a submit means in its words, and who is called back.
 *
 * A submit is gathered for a few milliseconds, so that a burst is one decision and not a race. Its
 * tasks become jobs that carry no secret: the handler finds the task by submit and index. A task is
 * over when its job has ended, which is after slot and gate were released.
 */
import { randomUUID } from "node:crypto";
import {
  type BulkItem,
  type Clock,
  type Job,
  type Queue,
  type Sluice,
  SluiceError,
  SystemClock,
  type Timer,
  Unrecoverable,
  type WorkContext,
  type Worker,
  type WorkJob,
} from "sluice";
import { answered, endedBy, failed, finishedBy } from "./ending.ts";
import { Fault } from "./fault.ts";
import { keptOf } from "./kept.ts";
import { cancelOthers, jobsOf, type Payload } from "./leftovers.ts";
import { gateKey, gateKeys, IndexerGates } from "./limits-of.ts";
import { taskKey } from "./normalise.ts";
import { type Outcome, without } from "./outcome.ts";
import { penalise } from "./penalise.ts";
import { maxWaitOf, PRIORITIES } from "./priority.ts";
import { type Exec, Submission, type SubmitOptions, type Task } from "./submission.ts";
import { unlessAborted } from "./unless-aborted.ts";

const GATHER_MS = 5;
/** Tasks that are added in one go. */
const BURST_MAX = 10_000;
const WORKERS = 10;

export interface SchedulerOptions<Params, Result> {
  readonly sluice: Sluice;
  readonly clock?: Clock | undefined;
  /** Requests side by side, over all indexers. Default 10. */
  readonly workers?: number | undefined;
  /** Asks an indexer, when a submit brings no function of its own. */
  readonly exec?: Exec<Params, Result> | undefined;
  /** Durable submits of an earlier process, by job id, as they were: they continue. */
  readonly resume?: ReadonlyMap<string, SubmitOptions<Params, Result>> | undefined;
  /** Hears what callbacks throw. Default: printed. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export class SearchScheduler<Params = unknown, Result = unknown> {
  readonly #options: SchedulerOptions<Params, Result>;
  readonly #clock: Clock;
  readonly #queue: Queue<Payload<Params>>;
  readonly #gates: IndexerGates;
  readonly #submissions = new Map<string, Submission<Params, Result>>();
  readonly #ends = new Set<Promise<void>>();
  #worker: Worker<Payload<Params>, unknown> | undefined = undefined;
  #gathered: Task<Params, Result>[] = [];
  #timer: Timer | undefined = undefined;
  #batch: PromiseWithResolvers<void> | undefined = undefined;
  #isStopped = false;

  private constructor(options: SchedulerOptions<Params, Result>, queue: Queue<Payload<Params>>) {
    this.#options = options;
    this.#clock = options.clock ?? new SystemClock();
    this.#queue = queue;
    this.#gates = new IndexerGates(options.sluice);
  }

  static async open<Params = unknown, Result = unknown>(
    options: SchedulerOptions<Params, Result>,
  ): Promise<SearchScheduler<Params, Result>> {
    const queue = await options.sluice.queue<Payload<Params>>("search", {
      tiers: PRIORITIES,
      fairness: false,
      promoteAfter: "10m",
      retry: { attempts: 1 },
      dlq: false,
      lease: "10s",
      // All tasks of a burst may end before anybody has asked for the end of the first.
      results: { jobs: BURST_MAX, ttl: "10m" },
    });
    const scheduler = new SearchScheduler(options, queue);
    await scheduler.#resume();
    scheduler.#worker = queue.work((job, context) => scheduler.#run(job, context), {
      concurrency: options.workers ?? WORKERS,
    });
    return scheduler;
  }

  /** Answers at once; everything else is reported by the callbacks. */
  submit(options: SubmitOptions<Params, Result>): string {
    if (this.#isStopped) throw new SluiceError("CLOSED", "the search scheduler is stopped");
    const id = randomUUID();
    const submission = new Submission(id, options, (error) => this.#report(error));
    if (submission.tasks.length === 0) {
      queueMicrotask(() => void submission.done());
      return id;
    }
    this.#submissions.set(id, submission);
    this.#listen(submission);
    this.#gathered.push(...submission.tasks);
    this.#batch ??= Promise.withResolvers();
    this.#timer ??= this.#clock.at(this.#clock.now() + GATHER_MS, () => this.#flush());
    return id;
  }

  /** Answers when all that was submitted so far is in the queue, and so outlives a crash. */
  async queued(): Promise<void> {
    await this.#batch?.promise;
  }

  /** Ends one search, as its signal would. */
  async cancel(jobId: string): Promise<void> {
    const tasks = this.#submissions.get(jobId)?.tasks ?? [];
    await Promise.all(tasks.map((task) => this.#giveUp(task, "cancelled")));
  }

  /**
   * Queued tasks end as stopped, running ones may end until the timeout and are aborted then.
   * Durable submits are left where they are and get no callback: they continue in the next process.
   */
  async stop({ timeout = 10_000 }: { timeout?: number } = {}): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#flush();
    const closing = this.#worker?.close({ timeout });
    await this.#stopTasks((task) => task.state !== "running");
    await closing;
    await this.#stopTasks(() => true);
    await Promise.all(this.#ends);
  }

  async #stopTasks(isMeant: (task: Task<Params, Result>) => boolean): Promise<void> {
    const mine = [...this.#submissions.values()].filter(({ options }) => options.durable !== true);
    const tasks = mine.flatMap((submission) => submission.tasks).filter(isMeant);
    await Promise.all(tasks.map((task) => this.#giveUp(task, "stopped")));
  }

  async #resume(): Promise<void> {
    const { sluice, resume = new Map<string, SubmitOptions<Params, Result>>() } = this.#options;
    await cancelOthers(sluice, this.#queue, new Set(resume.keys()));
    for (const [id, options] of resume) {
      const submission = new Submission(id, options, (error) => this.#report(error));
      if (submission.tasks.length === 0) await submission.done();
      else this.#submissions.set(id, submission);
      const jobs = await jobsOf(sluice, this.#queue.group(id));
      for (const task of submission.tasks) {
        const job = jobs.get(task.index);
        if (job === undefined) this.#end(task, without("stopped"));
        else this.#track(task, sluice.job(job));
      }
    }
  }

  #listen(submission: Submission<Params, Result>): void {
    const { signal } = submission.options;
    if (signal === undefined) return;
    const cancel = (): void => void this.cancel(submission.id);
    if (signal.aborted) queueMicrotask(cancel);
    else signal.addEventListener("abort", cancel, { once: true });
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const tasks = this.#gathered.splice(0).filter(({ state }) => state !== "over");
    const batch = this.#batch;
    this.#batch = undefined;
    if (!this.#isStopped) this.#keep(this.#add(tasks).finally(() => batch?.resolve()));
    else for (const task of tasks) this.#end(task, without("stopped"));
    if (this.#isStopped) batch?.resolve();
  }

  async #add(tasks: readonly Task<Params, Result>[]): Promise<void> {
    try {
      const budgets = tasks.map(({ indexer, submission }) =>
        this.#gates.configure(indexer, submission.options.budget ?? "query"),
      );
      await Promise.all(budgets);
      const wanted = tasks.filter(({ state }) => state !== "over");
      for (let start = 0; start < wanted.length; start += BURST_MAX) {
        const burst = wanted.slice(start, start + BURST_MAX);
        const answers = await this.#queue.addBulk(burst.map((task) => this.#itemOf(task)));
        for (const [i, task] of burst.entries()) this.#added(task, answers[i]!);
      }
    } catch (error) {
      for (const task of tasks) if (task.job === undefined) this.#end(task, failed(error));
    }
  }

  #itemOf({ submission, index, indexer }: Task<Params, Result>): BulkItem<Payload<Params>> {
    const { id, options } = submission;
    const { priority, maxWait, params, deadline } = options;
    const base = { submit: id, index, indexer: indexer.id };
    const isDurable = options.durable === true;
    const isShared = priority === "rss" && options.dedupe !== false;
    return {
      // Only who outlives the process has to find its parameters in the queue.
      payload: isDurable ? { ...base, params } : base,
      priority: priority ?? "background",
      gates: gateKeys(indexer, options.budget),
      maxWait: maxWaitOf(priority, maxWait),
      deadline,
      group: id,
      // A task that a crash has interrupted gets one more delivery; faults are final by themselves.
      attempts: isDurable ? 2 : 1,
      dedupe: isShared ? { key: taskKey(indexer.id, params) } : undefined,
    };
  }

  #added(task: Task<Params, Result>, answer: Job | SluiceError): void {
    if (answer instanceof SluiceError) this.#end(task, endedBy(task, answer));
    else if (answer.duplicate) this.#end(task, without("deduplicated"));
    else this.#track(task, answer);
  }

  #track(task: Task<Params, Result>, job: Job): void {
    task.job = job;
    if (task.state === "gathered") task.state = "queued";
    const ended = job.finished().then(
      (result) => this.#end(task, finishedBy(task, result)),
      (error) => this.#end(task, endedBy(task, error)),
    );
    // A durable task may outlive the process, so its end is not awaited.
    if (task.submission.options.durable !== true) this.#keep(ended);
    if (task.givenUp !== undefined) this.#keep(job.cancel().then(() => {}));
  }

  async #giveUp(task: Task<Params, Result>, how: "cancelled" | "stopped"): Promise<void> {
    if (task.state === "over") return;
    task.givenUp ??= how;
    if (task.job !== undefined) await task.job.cancel();
    else if (task.state === "gathered" && this.#gathered.includes(task)) {
      this.#end(task, endedBy(task, undefined));
    }
  }

  /** Throws only what ends the job: the outcome waits with the task until the job has ended. */
  async #run(job: WorkJob<Payload<Params>>, { signal }: WorkContext): Promise<unknown> {
    const task = this.#submissions.get(job.payload.submit)?.tasks[job.payload.index];
    if (task === undefined) throw new Unrecoverable("stopped: no caller waits", { blame: false });
    if (task.state === "over" || task.givenUp !== undefined) return undefined;
    task.state = "running";
    const { options, id } = task.submission;
    try {
      const exec = options.exec ?? this.#options.exec;
      if (exec === undefined) throw new Error("neither the submit nor the scheduler has an exec");
      const asked = Promise.resolve(exec(task.indexer, options.params, { jobId: id, signal }));
      const answer = await unlessAborted(asked, signal);
      task.outcome = answered(answer, task.indexer);
      return options.durable === true ? keptOf(answer) : undefined;
    } catch (error) {
      if (!signal.aborted && error instanceof Fault) {
        const key = gateKey(task.indexer.id, options.budget);
        await penalise(this.#options.sluice, key, error);
      }
      task.outcome = failed(error);
      const text = `${task.outcome.status}: ${task.outcome.error?.message}`;
      throw new Unrecoverable(text, { blame: false });
    }
  }

  #end(task: Task<Params, Result>, outcome: Outcome<Result>): void {
    const { submission } = task;
    if (this.#isStopped && submission.options.durable === true) return;
    void submission.settle(task, outcome);
    if (submission.isOver) this.#submissions.delete(submission.id);
  }

  #keep(promise: Promise<void>): void {
    const kept = promise
      .catch((error) => this.#report(error))
      .finally(() => this.#ends.delete(kept));
    this.#ends.add(kept);
  }

  #report(error: unknown): void {
    const { onError } = this.#options;
    if (onError === undefined) console.error("torznab:", error);
    else onError(error);
  }
}
