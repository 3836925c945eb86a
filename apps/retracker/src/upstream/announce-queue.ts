/**
 * The one queue. Tier 0 holds events and probes, tier 1 announces, as many as
 * `forwarder_queue_size` says. In both, each client address (of IPv6: each /64) is a lane, so that
 * a flood from one does not delay the others. Events have a fifth of the workers at least: there
 * are few of them, so they pass the announces by. With all of the workers a flood of events would
 * stop every announce.
 *
 * An address that has more than a job or two under way is busy. All busy addresses together have
 * the elastic workers; beyond these there is a reserve, for jobs of the others. So announces of an
 * address that floods never hold every place, and those of others need not wait for one of them.
 */
import { type Job, type Queue, type Sluice, SluiceError, type Worker, type WorkJob } from "sluice";
import { EVENT_JOBS_MAX, EVENT_JOBS_PER_ADDRESS_MAX, IDLE_ADDRESS_JOBS_MAX } from "../limits.ts";
import type { Settings } from "../settings/settings.ts";
import { networkOf } from "../wire/announce.ts";
import { fromHex, toHex } from "../wire/hex.ts";
import { type AnnounceJob, dedupeKey, isAside } from "./announce-job.ts";
import { gateOf } from "./forwarders.ts";
import { JobsByAddress } from "./jobs-by-address.ts";

type AnnounceWorker = Worker<AnnounceJob, void>;
type OnError = (error: unknown) => void;
type Handle = (job: AnnounceJob, id: string, signal: AbortSignal) => Promise<void>;

/** A retry is a job of its own, so Sluice's own attempts are only for a process that dies. */
const DELIVERIES_MAX = 20;
const SCALE_DOWN_AT = 0.4;
/** Workers that events and announces have while there are both. */
const TIER_WEIGHTS = [1, 4];
/** The gate of jobs of busy addresses: as many run at once as there are elastic workers. */
const BUSY_GATE = "busy-addresses";

/** What one client address may still add. */
export interface Room {
  /** Announces that fit. */
  readonly jobs: number;
  /** The queue as this address sees it: the fill of all of it, or of its share. */
  readonly fill: number;
}

export interface QueueFigures {
  depth: number;
  capacity: number;
  pending: number;
  delayed: number;
}

export interface AnnounceWorkers {
  /** Of the elastic workers: how many there are now. */
  readonly concurrency: number;
  close(): Promise<void>;
}

export class AnnounceQueue {
  readonly #sluice: Sluice;
  readonly #queue: Queue<AnnounceJob, void>;
  readonly #capacity: number;
  /** Jobs that one address may have waiting. */
  readonly #share: number;
  readonly #hasReserve: boolean;
  readonly #byAddress = new JobsByAddress();
  readonly #runningByAddress = new Map<string, number>();

  private constructor(sluice: Sluice, queue: Queue<AnnounceJob, void>, settings: Settings) {
    this.#sluice = sluice;
    this.#queue = queue;
    this.#capacity = settings.forwarder_queue_size;
    const percent = settings.queue_share_per_address_pct;
    this.#share = Math.max(1, Math.floor((this.#capacity * percent) / 100));
    this.#hasReserve = settings.forwarder_reserve_workers > 0;
  }

  static async open(sluice: Sluice, settings: Settings): Promise<AnnounceQueue> {
    const capacity = settings.forwarder_queue_size;
    const queue = await sluice.queue<AnnounceJob, void>("announce", {
      tiers: [{ name: "event" }, { name: "announce", capacity }],
      tierOrder: TIER_WEIGHTS,
      capacity: { jobs: capacity + EVENT_JOBS_MAX },
      fullRetry: "10s",
      retry: { attempts: DELIVERIES_MAX },
      lease: settings.forward_timeout * 1000 + 30_000,
      dlq: false,
      results: { jobs: 0 },
    });
    await sluice.gate(BUSY_GATE).set({ concurrency: settings.forwarder_workers });
    return new AnnounceQueue(sluice, queue, settings);
  }

  work(settings: Settings, handle: Handle, onError: OnError): AnnounceWorkers {
    const run = (job: WorkJob<AnnounceJob>, { signal }: { signal: AbortSignal }): Promise<void> =>
      this.#run(job, signal, handle);
    const scaleUpAt = settings.queue_scale_threshold_pct / 100;
    const elastic = this.#queue.work(run, {
      concurrency: {
        min: settings.forwarder_workers,
        max: settings.max_forwarder_workers,
        scaleUpAt,
        scaleDownAt: Math.min(SCALE_DOWN_AT, scaleUpAt),
        load: () => this.fill(),
      },
    });
    const workers: AnnounceWorker[] = [elastic];
    if (this.#hasReserve) {
      workers.push(this.#queue.work(run, { concurrency: settings.forwarder_reserve_workers }));
      this.#sluice.on("scaled", ({ worker, to }) => {
        if (worker === elastic.name) {
          this.#sluice.gate(BUSY_GATE).set({ concurrency: to }).catch(onError);
        }
      });
    }
    return {
      get concurrency(): number {
        return elastic.concurrency;
      },
      close: async () => {
        await Promise.all(workers.map((worker) => worker.close({ timeout: 0 })));
      },
    };
  }

  async #run(job: WorkJob<AnnounceJob>, signal: AbortSignal, handle: Handle): Promise<void> {
    const lane = laneOf(job.payload);
    this.#byAddress.taken(job.id, job.payload.tries + job.payload.deferrals > 0);
    this.#runs(lane, 1);
    try {
      await handle(job.payload, job.id, signal);
    } catch (error) {
      // It waits again, behind the gate of its forwarder.
      this.#byAddress.added(job.id, lane);
      throw error;
    } finally {
      this.#runs(lane, -1);
    }
  }

  #runs(lane: string, more: 1 | -1): void {
    const count = (this.#runningByAddress.get(lane) ?? 0) + more;
    if (count > 0) this.#runningByAddress.set(lane, count);
    else this.#runningByAddress.delete(lane);
  }

  /** Waiting jobs as a share of what the queue holds. */
  async fill(): Promise<number> {
    const { depth } = await this.figures();
    return depth / this.#capacity;
  }

  async room(address: string): Promise<Room> {
    const { depth } = await this.figures();
    const own = this.#byAddress.of(laneKey(address));
    return {
      jobs: Math.max(0, Math.min(this.#capacity - depth, this.#share - own)),
      fill: Math.min(1, Math.max(depth / this.#capacity, own / this.#share)),
    };
  }

  /** Events of one address that still fit. */
  eventRoom(address: string): number {
    return Math.max(0, EVENT_JOBS_PER_ADDRESS_MAX - this.#byAddress.of(laneKey(address)));
  }

  async figures(): Promise<QueueFigures> {
    const { waiting, delayed, running } = await this.#queue.stats();
    const pending = waiting + delayed + running;
    return { depth: waiting, capacity: this.#capacity, pending, delayed };
  }

  /** For each job its id, or undefined when there was no room. */
  async add(jobs: readonly AnnounceJob[], delayMs = 0): Promise<(string | undefined)[]> {
    const ahead = new Map<string, number>();
    const answers = await this.#queue.addBulk(
      jobs.map((payload) => ({
        payload,
        priority: isAside(payload) ? 0 : 1,
        fairnessKey: laneOf(payload),
        gates: this.#gatesOf(payload, ahead),
        dedupe: { key: dedupeKey(payload), mode: "pending" as const },
        ...(delayMs > 0 ? { delay: Math.ceil(delayMs) } : {}),
      })),
    );
    const ids = answers.map(idOf);
    for (const [i, id] of ids.entries()) {
      if (id !== undefined && delayMs === 0) this.#byAddress.added(id, laneOf(jobs[i]!));
    }
    return ids;
  }

  /** `ahead` counts the jobs of each lane that are added in the same call. */
  #gatesOf(job: AnnounceJob, ahead: Map<string, number>): string[] {
    const gates = [gateOf(job.forwarder)];
    if (!this.#hasReserve) return gates;
    const lane = laneOf(job);
    const inCall = ahead.get(lane) ?? 0;
    ahead.set(lane, inCall + 1);
    const underWay = this.#byAddress.of(lane) + (this.#runningByAddress.get(lane) ?? 0) + inCall;
    return underWay < IDLE_ADDRESS_JOBS_MAX ? gates : [...gates, BUSY_GATE];
  }

  /** Nothing happens when it has ended. */
  async cancel(id: string): Promise<void> {
    this.#byAddress.taken(id, true);
    try {
      await this.#sluice.job(id).cancel();
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "JOB_NOT_FOUND") throw error;
    }
  }

  /** After a restart: the job was added by the run before. */
  restored(id: string, job: AnnounceJob): void {
    this.#byAddress.added(id, laneOf(job));
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

/** The lane of a job: what one customer has. */
function laneOf({ address }: AnnounceJob): string {
  return laneKey(fromHex(address));
}

function laneKey(address: string): string {
  return toHex(networkOf(address));
}

function idOf(answer: Job<AnnounceJob, void> | SluiceError): string | undefined {
  if (!(answer instanceof SluiceError)) return answer.id;
  if (answer.code === "QUEUE_FULL") return undefined;
  throw answer;
}
