/**
 * The one queue. Tier 0 holds what passes the others by (events and probes) and is bounded only by
 * memory; tier 1 holds announces, first in, first out, as many as `forwarder_queue_size` says.
 */
import { type Job, type Queue, type Sluice, SluiceError, type Worker } from "sluice";
import { EVENT_JOBS_MAX } from "../limits.ts";
import type { Settings } from "../settings/settings.ts";
import { type AnnounceJob, dedupeKey, isAside } from "./announce-job.ts";
import { gateOf } from "./forwarders.ts";

export type AnnounceWorker = Worker<AnnounceJob, void>;
type Handle = (job: AnnounceJob, id: string, signal: AbortSignal) => Promise<void>;

/** A retry is a job of its own, so Sluice's own attempts are only for a process that dies. */
const DELIVERIES_MAX = 20;
const SCALE_DOWN_AT = 0.4;

export interface QueueFigures {
  depth: number;
  capacity: number;
  pending: number;
  delayed: number;
}

export class AnnounceQueue {
  readonly #sluice: Sluice;
  readonly #queue: Queue<AnnounceJob, void>;
  readonly #capacity: number;

  private constructor(sluice: Sluice, queue: Queue<AnnounceJob, void>, capacity: number) {
    this.#sluice = sluice;
    this.#queue = queue;
    this.#capacity = capacity;
  }

  static async open(sluice: Sluice, settings: Settings): Promise<AnnounceQueue> {
    const capacity = settings.forwarder_queue_size;
    const queue = await sluice.queue<AnnounceJob, void>("announce", {
      tiers: [{ name: "event" }, { name: "announce", capacity }],
      fairness: false,
      capacity: { jobs: capacity + EVENT_JOBS_MAX },
      fullRetry: "10s",
      retry: { attempts: DELIVERIES_MAX },
      lease: settings.forward_timeout * 1000 + 30_000,
      dlq: false,
      results: { jobs: 0 },
    });
    return new AnnounceQueue(sluice, queue, capacity);
  }

  work(settings: Settings, handle: Handle): AnnounceWorker {
    const scaleUpAt = settings.queue_scale_threshold_pct / 100;
    return this.#queue.work((job, { signal }) => handle(job.payload, job.id, signal), {
      concurrency: {
        min: settings.forwarder_workers,
        max: settings.max_forwarder_workers,
        scaleUpAt,
        scaleDownAt: Math.min(SCALE_DOWN_AT, scaleUpAt),
        load: () => this.fill(),
      },
    });
  }

  /** Waiting announces as a share of what the queue holds. */
  async fill(): Promise<number> {
    return this.fillOf(await this.room());
  }

  /** Announces that still fit. */
  async room(): Promise<number> {
    const stats = await this.#queue.stats();
    return Math.max(0, this.#capacity - stats.perTier[1]!.waiting);
  }

  fillOf(room: number): number {
    return 1 - room / this.#capacity;
  }

  async figures(): Promise<QueueFigures> {
    const { perTier, waiting, delayed, running } = await this.#queue.stats();
    const depth = perTier[1]!.waiting;
    return { depth, capacity: this.#capacity, pending: waiting + delayed + running, delayed };
  }

  /** For each job its id, or undefined when there was no room. */
  async add(jobs: readonly AnnounceJob[], delayMs = 0): Promise<(string | undefined)[]> {
    const answers = await this.#queue.addBulk(
      jobs.map((payload) => ({
        payload,
        priority: isAside(payload) ? 0 : 1,
        gates: [gateOf(payload.forwarder)],
        dedupe: { key: dedupeKey(payload), mode: "pending" as const },
        ...(delayMs > 0 ? { delay: Math.ceil(delayMs) } : {}),
      })),
    );
    return answers.map(idOf);
  }

  /** Nothing happens when it has ended. */
  async cancel(id: string): Promise<void> {
    try {
      await this.#sluice.job(id).cancel();
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "JOB_NOT_FOUND") throw error;
    }
  }

  /** What waits and what is delayed, with the time at which it falls due. */
  async *queued(): AsyncGenerator<{ id: string; job: AnnounceJob; at: number | undefined }> {
    for (const state of ["waiting", "delayed"] as const) {
      for await (const { id, payload, at } of this.#queue.jobs({ state })) {
        yield { id, job: payload, at: state === "delayed" ? at : undefined };
      }
    }
  }
}

function idOf(answer: Job<AnnounceJob, void> | SluiceError): string | undefined {
  if (!(answer instanceof SluiceError)) return answer.id;
  if (answer.code === "QUEUE_FULL") return undefined;
  throw answer;
}
