import type { Engine } from "@sluice/engine";
import type { Clock, Timer } from "@sluice/protocol";
import { PROGRESS_EVERY_MS } from "./limits.ts";

/**
 * How far jobs have come, as their workers report it. The engine keeps the last report with the
 * job, and the log has it. A handler that reports often must not fill the log: the first report of
 * a job is written at once, the next ones at most every `PROGRESS_EVERY_MS`, always the latest.
 * What waits here is written by one timer, before the job ends, and when the broker closes.
 */
export class ProgressReports {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #wake: () => void;
  /** Reports that are yet to be written. */
  readonly #waiting = new Map<number, unknown>();
  /** When each job may be written again, the next one first. */
  readonly #until = new Map<number, number>();
  /** Jobs that have reported of late. Most never do, and their ends ask no further. */
  readonly jobs: ReadonlyMap<number, unknown> = this.#until;
  #timer: Timer | undefined;

  constructor(engine: Engine, clock: Clock, wake: () => void) {
    this.#engine = engine;
    this.#clock = clock;
    this.#wake = wake;
  }

  /** What a job has reported and the engine does not know yet. */
  get(job: number): unknown {
    return this.#waiting.get(job);
  }

  set(job: number, progress: unknown): void {
    this.#waiting.set(job, progress);
    if (!this.#until.has(job)) this.#write(job);
    this.#setTimer();
  }

  /** The job is about to end: its last report is written now. */
  flush(job: number): void {
    if (this.#waiting.has(job)) this.#write(job);
  }

  /** The job has ended. */
  forget(job: number): void {
    this.#waiting.delete(job);
    this.#until.delete(job);
  }

  flushAll(): void {
    this.stop();
    for (const job of [...this.#waiting.keys()]) this.#write(job);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #write(job: number): void {
    const now = this.#clock.now();
    const progress = this.#waiting.get(job);
    this.#waiting.delete(job);
    this.#until.delete(job);
    if (this.#engine.queueOf(job) === undefined) return;
    this.#until.set(job, now + PROGRESS_EVERY_MS);
    this.#engine.progress(job, progress, now);
  }

  #setTimer(): void {
    const [next] = this.#until.values();
    if (next === undefined || this.#timer !== undefined) return;
    this.#timer = this.#clock.at(next, () => {
      this.#timer = undefined;
      this.#writeDue(this.#clock.now());
      this.#setTimer();
    });
    this.#timer.unref?.();
  }

  #writeDue(now: number): void {
    for (const [job, until] of [...this.#until]) {
      if (until > now) break;
      if (this.#waiting.has(job)) this.#write(job);
      else this.#until.delete(job);
    }
    this.#wake();
  }
}
