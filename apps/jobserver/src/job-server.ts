/**
 * The job server without its HTTP: one Sluice queue whose tiers are how preferred a submitter is
 * and whose lanes are the submitters. Only jobs that are durably queued have an id.
 */
import { type Queue, Sluice, SluiceError, type Worker } from "sluice";
import type { Readiness } from "sluice/http";
import type { Config, TierSize } from "./config.ts";
import type { JobHandlers } from "./handlers/handler.ts";
import type { Log } from "./log.ts";
import { PriorityList } from "./priority-list.ts";
import { queueOptions } from "./queue-options.ts";
import { handlerFor } from "./run.ts";
import { Sizing } from "./sizing.ts";
import { ServerStats } from "./stats.ts";
import { type JobStatus, nameOf, positionOf, type Status, statusOf } from "./status.ts";
import { parseSubmission, type Submission } from "./submission.ts";
import { Submitters } from "./submitters.ts";

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
  /** Resolves when the log can confirm nothing more. */
  readonly failed: Promise<Error>;
  readonly #sluice: Sluice;
  readonly #queue: Queue<Submission, unknown>;
  readonly #submitters: Submitters;
  readonly #types: ReadonlySet<string>;
  readonly #sizing: Sizing;
  readonly #worker: Worker<Submission, unknown>;

  private constructor(parts: Parts) {
    const { config, sluice, queue, handlers, log, submitters } = parts;
    this.config = config;
    this.#sluice = sluice;
    this.#queue = queue;
    this.#submitters = submitters;
    this.#types = new Set(Object.keys(handlers));
    this.list = new PriorityList(config, submitters, sluice.store<string>(STORE), log);
    this.stats = new ServerStats({ config, queue, list: this.list });
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
    this.#worker = queue.work(handlerFor(handlers), { concurrency: parts.config.workers });
  }

  static async open(config: Config, handlers: JobHandlers, log: Log): Promise<JobServer> {
    const sluice = await Sluice.open({ dir: config.dir });
    try {
      await sluice.queue(QUEUE, queueOptions(config, config.tiers));
      // What a handler threw it would throw again; a worker that died is another matter.
      const queue = await sluice.queue<Submission>(QUEUE, { retry: () => "dlq" });
      for (const [type, concurrency] of config.typeLimits) {
        await sluice.gate(gateOf(type)).set({ concurrency });
      }
      const submitters = new Submitters(
        config.match,
        config.tiers.map(({ name }) => name),
      );
      const server = new JobServer({ config, sluice, queue, handlers, log, submitters });
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
  async add(body: unknown): Promise<JobAdded> {
    const { timeoutMs, tiers, results, typeLimits } = this.config;
    const { submission, idempotencyKey } = parseSubmission(body, this.#types, timeoutMs);
    const { type, workerId } = submission;
    const wanted = this.#submitters.tierOf(workerId);
    try {
      const job = await this.#queue.add(submission, {
        priority: wanted,
        ...(workerId === undefined ? {} : { fairnessKey: workerId }),
        ...(typeLimits.some(([limited]) => limited === type) ? { gates: [gateOf(type)] } : {}),
        ...(idempotencyKey === undefined
          ? {}
          : {
              dedupe: {
                key: JSON.stringify([workerId ?? null, idempotencyKey]),
                mode: "window" as const,
                window: results.ms,
              },
            }),
      });
      const tier = job.tier ?? wanted;
      if (!job.duplicate) this.stats.added(job.id, wanted, tier);
      const position = (await positionOf(job)) ?? 0;
      return { uid: job.id, queue: tiers[tier]!.name, position };
    } catch (error) {
      if (error instanceof SluiceError && error.code === "QUEUE_FULL") this.stats.rejected(wanted);
      throw error;
    }
  }

  status(uid: string): Promise<JobStatus> {
    return statusOf(this.#sluice.job(uid));
  }

  /** Waits for the end as long as the signal lets it; answers how the job stands then. */
  async result(uid: string, signal: AbortSignal): Promise<JobResult> {
    const job = this.#sluice.job<Submission>(uid);
    if (!signal.aborted) await job.finished({ signal }).catch(() => undefined);
    const info = await job.info();
    return { status: nameOf(info), data: info.result ?? null, error: info.error ?? null };
  }

  /** False when the job had ended. */
  async cancel(uid: string): Promise<boolean> {
    const isCancelled = await this.#sluice.job(uid).cancel();
    if (isCancelled) this.stats.left(uid);
    return isCancelled;
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

  async close({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<void> {
    this.#sizing.stop();
    await this.list.stop();
    await this.#worker.close({ timeoutMs });
    await this.#sluice.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #resize(sizes: readonly TierSize[]): Promise<void> {
    const { tiers, capacity } = queueOptions(this.config, sizes);
    await this.#sluice.queue(QUEUE, { tiers, capacity });
  }
}

interface Parts {
  readonly config: Config;
  readonly sluice: Sluice;
  readonly queue: Queue<Submission, unknown>;
  readonly handlers: JobHandlers;
  readonly log: Log;
  readonly submitters: Submitters;
}

function gateOf(type: string): string {
  return `type:${type}`;
}
