/**
 * The job server without its HTTP: one Sluice queue whose tiers are how preferred a submitter is
 * and whose lanes are the submitters. Only jobs that are durably queued have an id.
 */
import { hash } from "node:crypto";
import { type Job, type JobOptions, type Queue, Sluice, SluiceError, type Worker } from "sluice";
import type { Readiness } from "sluice/http";
import { Callbacks } from "./callbacks.ts";
import type { Config, TierSize } from "./config.ts";
import { JobIds } from "./job-ids.ts";
import { type JobFilter, type JobPage, listJobs } from "./job-list.ts";
import { JobNews } from "./job-news.ts";
import type { Log } from "./log.ts";
import { PriorityList } from "./priority-list.ts";
import { queueOptions } from "./queue-options.ts";
import { handlerFor, type Runners, typesOf } from "./run.ts";
import { Sizing } from "./sizing.ts";
import { ServerStats } from "./stats.ts";
import { errorOf, type JobStatus, nameOf, positionOf, type Status, statusOf } from "./status.ts";
import { type Bound, parseSubmission, type Submission, type Submitted } from "./submission.ts";
import { SubmitterKeys } from "./submitter-keys.ts";
import { Submitters } from "./submitters.ts";
import { TierPlaces } from "./tier-places.ts";

const QUEUE = "jobs";
const STORE = "jobserver";
/** A log that takes longer to write a few bytes is of no use. */
const READY_MS = 2_000;

export interface JobAdded {
  readonly uid: string;
  /** The tier that took it. */
  readonly queue: string;
  readonly position: number;
}

export interface JobResult {
  readonly status: Status;
  readonly data: unknown;
  readonly error: string | null;
}

export class JobServer implements AsyncDisposable {
  readonly config: Config;
  readonly stats: ServerStats;
  readonly list: PriorityList;
  readonly keys: SubmitterKeys;
  readonly news: JobNews;
  /** Resolves when the log can confirm nothing more. */
  readonly failed: Promise<Error>;
  readonly #sluice: Sluice;
  readonly #queue: Queue<Submission, unknown>;
  readonly #submitters: Submitters;
  readonly #places: TierPlaces;
  readonly #types: ReadonlySet<string>;
  readonly #sizing: Sizing;
  readonly #worker: Worker<Submission, unknown>;
  readonly #runners: Runners;
  readonly #ids: JobIds;
  readonly #callbacks: Callbacks;

  private constructor(parts: Parts) {
    const { config, sluice, queue, runners, log, submitters, places } = parts;
    this.keys = parts.keys;
    this.news = parts.news;
    this.#ids = parts.ids;
    this.#callbacks = parts.callbacks;
    this.config = config;
    this.#places = places;
    this.#sluice = sluice;
    this.#queue = queue;
    this.#submitters = submitters;
    this.#runners = runners;
    this.#types = typesOf(runners);
    this.list = new PriorityList(config, submitters, sluice.store<string>(STORE), log);
    this.stats = new ServerStats({ config, queue, list: this.list, places });
    this.#sizing = new Sizing({
      config,
      stats: this.stats,
      apply: (sizes) => this.#resize(sizes),
      log,
    });
    this.failed = new Promise((resolve) => {
      sluice.on("error", ({ error }) => {
        if (error instanceof SluiceError && error.code === "LOG_FAILED") resolve(error);
        else log.error(`${error.name}: ${error.message}`);
      });
    });
    const handler = handlerFor(runners, (id) => parts.ids.uidOf(id));
    this.#worker = queue.work(handler, { concurrency: parts.config.workers });
  }

  /** The runners are closed with the server. */
  static async open(config: Config, runners: Runners, log: Log): Promise<JobServer> {
    const sluice = await Sluice.open({ dir: config.dir });
    try {
      const places = new TierPlaces(config.tiers.length, await tiersInQueue(sluice));
      await sluice.queue(QUEUE, queueOptions(config, config.tiers, places.retired));
      // What a handler threw it would throw again; a worker that died is another matter.
      const queue = await sluice.queue<Submission>(QUEUE, { retry: () => "dlq" });
      for (const [type, concurrency] of config.typeLimits) {
        await sluice.gate(gateOf(type)).set({ concurrency });
      }
      const submitters = new Submitters(
        config.match,
        config.tiers.map(({ name }) => name),
      );
      const store = sluice.store<string>(STORE);
      const [ids, keys] = await Promise.all([JobIds.open(store), SubmitterKeys.open(store)]);
      const uidOf = (id: string): string => ids.uidOf(id);
      const news = new JobNews(queue);
      const callbacks = await Callbacks.open({ config, sluice, queue, store, uidOf, log }, news);
      const server = new JobServer({
        ...{ config, sluice, queue, runners, log, submitters, places, ids, keys, news, callbacks },
      });
      await server.stats.recount();
      await server.list.start();
      server.#sizing.start();
      return server;
    } catch (error) {
      await sluice.close();
      throw error;
    }
  }

  /** Answers an id once the job is durable; refuses with what was wrong, or `QUEUE_FULL`. */
  async add(body: unknown, bound?: Bound): Promise<JobAdded> {
    const submitted = parseSubmission(body, this.#types, this.config.timeoutMs, bound);
    const { submission } = submitted;
    if (submission.callback !== undefined) this.#callbacks.check(submission.callback);
    const wanted = this.#tierOf(submission, bound);
    this.stats.submitting();
    try {
      const job = await this.#queue.add(submission, this.#optionsOf(submitted, wanted));
      if (job.duplicate) return await this.#again(job, wanted);
      const tier = this.#places.tierAt(job.tier!);
      const position = this.stats.added(job.id, submission.workerId ?? "", { wanted, tier });
      // A job that started before its add was answered is not reported as queued afterwards.
      if (this.stats.isWaiting(job.id, tier)) {
        const addedAt = this.stats.now();
        this.news.tell({ id: job.id, submission, status: "queued", tier: job.tier!, addedAt });
      }
      return { uid: this.uidOf(job.id), queue: this.config.tiers[tier]!.name, position };
    } catch (error) {
      if (error instanceof SluiceError && error.code === "QUEUE_FULL") this.stats.rejected(wanted);
      throw error;
    } finally {
      this.stats.submitted();
    }
  }

  /** With a submitter's key only its own jobs exist, here and below. */
  status(uid: string, bound?: Bound): Promise<JobStatus> {
    return this.#about(uid, bound, (job) => statusOf(job));
  }

  /** Waits for the end as long as the signal lets it; answers the job's status then. */
  result(uid: string, signal: AbortSignal, bound?: Bound): Promise<JobResult> {
    return this.#about(uid, bound, async (job) => {
      if (!signal.aborted) await job.finished({ signal }).catch(() => undefined);
      const info = await job.info();
      return { status: nameOf(info), data: info.result ?? null, error: errorOf(info) ?? null };
    });
  }

  /** False when the job had ended. */
  cancel(uid: string, bound?: Bound): Promise<boolean> {
    return this.#about(uid, bound, async (job) => {
      const { id } = job;
      const { payload: submission, tier, addedAt } = await job.info();
      if (!(await job.cancel())) return false;
      this.stats.left(id);
      this.news.tell({ id, submission, status: "cancelled", tier, addedAt });
      return true;
    });
  }

  /** What the callbacks of a submitter are signed with. */
  callbackSecret(workerId: string): string {
    return this.#callbacks.secretOf(workerId);
  }

  uidOf(id: string): string {
    return this.#ids.uidOf(id);
  }

  jobs(filter: JobFilter): Promise<JobPage> {
    const uidOf = (id: string): string => this.uidOf(id);
    const tierName = (place: number): string => this.tierName(place);
    return listJobs({ queue: this.#queue, uidOf, tierName }, filter);
  }

  isTier(name: string): boolean {
    return this.#submitters.tierNamed(name) !== undefined;
  }

  /** Fits the sizes of the tiers to the load; done by itself under `auto`. */
  resize(): Promise<void> {
    return this.#sizing.adjust();
  }

  /** Ready while the log takes what it is given; failing jobs are not the server's failure. */
  async readiness(): Promise<Readiness> {
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`no answer within ${READY_MS} ms`);
      setTimeout(reject, READY_MS, error).unref();
    });
    try {
      await Promise.race([this.#sluice.store(STORE).put("alive", Date.now()), late]);
      return { isReady: true, text: "ready" };
    } catch (error) {
      return { isReady: false, text: `the log takes nothing: ${(error as Error).message}` };
    }
  }

  submitters(): ReturnType<Queue<Submission>["lanes"]> {
    return this.#queue.lanes();
  }

  async close({ timeout = 10_000 }: { timeout?: number } = {}): Promise<void> {
    this.#sizing.stop();
    await this.list.stop();
    await this.#worker.close({ timeout });
    this.#runners.pool?.close();
    await this.#callbacks.close(timeout);
    await this.#sluice.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The configured tier of a place in the queue. */
  tierName(place: number): string {
    return this.config.tiers[this.#places.tierAt(place)]!.name;
  }

  /** A job that was submitted before. One that is no longer kept has no tier of its own. */
  async #again(job: Job<Submission, unknown>, wanted: number): Promise<JobAdded> {
    const uid = this.uidOf(job.id);
    try {
      const position = (await positionOf(job)) ?? 0;
      return { uid, queue: this.tierName(job.tier!), position };
    } catch (error) {
      const isGone = error instanceof SluiceError && error.code === "ALREADY_FINISHED";
      if (!isGone) throw error;
      return { uid, queue: this.config.tiers[wanted]!.name, position: 0 };
    }
  }

  #tierOf({ workerId }: Submission, bound: Bound | undefined): number {
    const own = bound?.tier === undefined ? undefined : this.#submitters.tierNamed(bound.tier);
    return own ?? this.#submitters.tierOf(workerId);
  }

  /** Finds a job by its outer name, and speaks of it by that name. */
  async #about<T>(
    uid: string,
    bound: Bound | undefined,
    use: (job: Job<Submission, unknown>) => Promise<T>,
  ): Promise<T> {
    const id = this.#ids.idOf(uid);
    if (id === undefined) throw unknownJob(uid);
    const job = this.#sluice.job<Submission>(id);
    try {
      if (bound !== undefined) {
        const { payload } = await job.info();
        if (payload.workerId !== bound.worker_id) throw unknownJob(uid);
      }
      return await use(job);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      if (error.code === "JOB_NOT_FOUND") throw unknownJob(uid);
      if (error.code !== "ALREADY_FINISHED") throw error;
      throw new SluiceError(error.code, `job ${uid} has ended and is no longer kept`, { uid });
    }
  }

  #optionsOf({ submission, idempotencyKey }: Submitted, wanted: number): JobOptions {
    const { type, workerId } = submission;
    const isLimited = this.config.typeLimits.some(([limited]) => limited === type);
    return {
      priority: this.#places.placeOf(wanted),
      ...(workerId === undefined ? {} : { fairnessKey: workerId }),
      ...(isLimited ? { gates: [gateOf(type)] } : {}),
      ...(idempotencyKey === undefined
        ? {}
        : {
            dedupe: {
              key: dedupeKey(workerId, idempotencyKey),
              mode: "window",
              window: this.config.results.ms,
            },
          }),
    };
  }

  async #resize(sizes: readonly TierSize[]): Promise<void> {
    const { tiers, capacity } = queueOptions(this.config, sizes, this.#places.retired);
    await this.#sluice.queue(QUEUE, { tiers, capacity });
  }
}

interface Parts {
  readonly config: Config;
  readonly sluice: Sluice;
  readonly queue: Queue<Submission, unknown>;
  readonly runners: Runners;
  readonly log: Log;
  readonly submitters: Submitters;
  readonly places: TierPlaces;
  readonly ids: JobIds;
  readonly keys: SubmitterKeys;
  readonly news: JobNews;
  readonly callbacks: Callbacks;
}

function unknownJob(uid: string): SluiceError {
  return new SluiceError("JOB_NOT_FOUND", `there is no job ${uid.slice(0, 64)}`, { uid });
}

async function tiersInQueue(sluice: Sluice): Promise<number> {
  const queues = await sluice.queues();
  return queues.find(({ name }) => name === QUEUE)?.config.tiers.length ?? 0;
}

/** A digest, as both together may be longer than a dedupe key can be. */
function dedupeKey(workerId: string | undefined, idempotencyKey: string): string {
  return hash("sha256", JSON.stringify([workerId ?? null, idempotencyKey]));
}

function gateOf(type: string): string {
  return `type:${type}`;
}
