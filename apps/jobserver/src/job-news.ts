/**
 * What happens to jobs, as it happens: read by event streams, callbacks and metrics. The end of a
 * job is reported when it is durable.
 */
import { type Queue, SystemClock, type WorkJob } from "sluice";
import { TIMEOUT_NAME } from "./run.ts";
import type { Status } from "./status.ts";
import type { Submission } from "./submission.ts";

export interface JobNewsItem {
  /** Sluice's own id. */
  readonly id: string;
  readonly submission: Submission;
  readonly status: Status;
  /** The configured tier, by its place in the queue. */
  readonly tier: number;
  readonly at: number;
  readonly addedAt: number;
  /** How long it has waited, when it begins, or run, when it ends. */
  readonly tookMs?: number;
  readonly data?: unknown;
  readonly error?: string;
}

export type NewsListener = (item: JobNewsItem) => void;

type Running = WorkJob<Submission>;

export class JobNews {
  readonly #clock = new SystemClock();
  readonly #listeners = new Set<NewsListener>();
  readonly #startedAt = new Map<string, number>();

  constructor(queue: Queue<Submission, unknown>) {
    queue.on("started", ({ job }) => {
      const at = this.#clock.now();
      this.#startedAt.set(job.id, at);
      this.#tell(job, "running", at, { tookMs: Math.max(0, at - job.addedAt) });
    });
    queue.on("finished", ({ job, result }) => this.#ended(job, "succeeded", { data: result }));
    queue.on("failed", ({ job, error }) => {
      const { name = "Error", message = String(error) } = (error ?? {}) as Partial<Error>;
      const status = name === TIMEOUT_NAME ? "timeout" : "failed";
      this.#ended(job, status, { error: `${name}: ${message}` });
    });
    queue.on("retried", ({ job }) => this.#ended(job, "queued", {}));
    queue.on("lease-lost", ({ job }) => this.#startedAt.delete(job.id));
  }

  /** Jobs that run now. */
  get running(): number {
    return this.#startedAt.size;
  }

  listen(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** For what workers do not tell: a job was added, or cancelled. */
  tell(item: Omit<JobNewsItem, "at">): void {
    if (this.#listeners.size === 0) return;
    const news = { ...item, at: this.#clock.now() };
    for (const listener of this.#listeners) listener(news);
  }

  #ended(job: Running, status: Status, more: { data?: unknown; error?: string }): void {
    const at = this.#clock.now();
    const startedAt = this.#startedAt.get(job.id) ?? at;
    this.#startedAt.delete(job.id);
    this.#tell(job, status, at, { tookMs: at - startedAt, ...more });
  }

  #tell(
    { id, payload, tier, addedAt }: Running,
    status: Status,
    at: number,
    more: Partial<JobNewsItem>,
  ): void {
    if (this.#listeners.size === 0) return;
    const item = { id, submission: payload, status, tier, at, addedAt, ...more };
    for (const listener of this.#listeners) listener(item);
  }
}
