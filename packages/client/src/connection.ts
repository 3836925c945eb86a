/** What all handles of one Sluice share: the port, the clock, and who is to be closed with it. */
import {
  type Broker,
  type CancelOptions,
  type Clock,
  type CloseOptions,
  type DeleteQueueOptions,
  type OperationOptions,
  parseClose,
  type QueueDeleted,
  SluiceError,
  type Timer,
} from "@sluice/protocol";
import type { Activity } from "./activity.ts";
import type { Delivery } from "./delivery.ts";
import { Adds, one } from "./gather.ts";
import { CLOSE_ANSWER_MS, CLOSE_TIMEOUT_MS } from "./limits.ts";
import { ownPlace } from "./own-place.ts";
import type { LinkFeed } from "./remote/link.ts";
import type { Tracing } from "./trace.ts";

/** What a Sluice is made of. */
export interface SluiceParts {
  readonly port: Broker;
  readonly clock: Clock;
  /** Resolves when the port can confirm nothing more: emitted as an `error` event. */
  readonly failed?: Promise<SluiceError>;
  /** What happens to the connection: emitted as events of the Sluice. */
  readonly link?: LinkFeed | undefined;
  /** Absent: nothing is traced. `loadTracing` answers it where OpenTelemetry is installed. */
  readonly tracing?: Tracing | undefined;
  /** The broker's log is open in this process, and only as long as it lives. */
  readonly inProcess?: boolean;
}

/** A worker or a consumption: it holds leases, and lets go of them when it is closed. */
export interface Holder {
  close(options?: CloseOptions): Promise<void>;
  /**
   * Jobs were ended from here, so there is no need to wait for the broker to say so.
   * @internal
   */
  jobsGone(isGone: (job: Delivery) => boolean, why: string): void;
  /**
   * A job of this queue was ended from here, and only the broker knows which.
   * @internal
   */
  checkLeases(queue: string): void;
}

/** What a worker's name takes of its queue's: names have at most 255 bytes. */
const QUEUE_CHARS = 200;

export class Connection {
  readonly port: Broker;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
  /** The broker's log is open in this process: workers here end with it. */
  readonly inProcess: boolean;
  readonly holders = new Set<Holder>();
  readonly #adds = new Map<string, Adds>();
  readonly #activity: Activity | undefined;
  /** Where its workers run. */
  readonly place = ownPlace();
  readonly #mark = Math.random().toString(36).slice(2, 8);
  #workers = 0;
  #isClosed = false;

  constructor({ port, clock, tracing, inProcess = false }: SluiceParts, activity?: Activity) {
    this.tracing = tracing;
    this.inProcess = inProcess;
    this.port = activity?.watch(port) ?? port;
    this.clock = clock;
    this.#activity = activity;
  }

  /** Adds one by one to a queue; what several handles add in one turn travels together. */
  addsTo(queue: string): Adds {
    let adds = this.#adds.get(queue);
    if (adds === undefined) {
      adds = new Adds(this.port, queue);
      this.#adds.set(queue, adds);
    }
    return adds;
  }

  async cancel(id: string, options?: CancelOptions): Promise<boolean> {
    const isCancelled = await one(this.port.cancel([id], options));
    if (isCancelled) this.#gone((job) => job.id === id, "was cancelled");
    return isCancelled;
  }

  async cancelByKey(queue: string, key: string, options?: OperationOptions): Promise<boolean> {
    const isCancelled = await one(this.port.cancelByKey(queue, [key], options));
    if (isCancelled) for (const holder of this.holders) holder.checkLeases(queue);
    return isCancelled;
  }

  async deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted> {
    const deleted = await this.port.deleteQueue(queue, options);
    this.#gone((job) => job.queue === queue, "went with its queue, which was deleted");
    return deleted;
  }

  #gone(isGone: (job: Delivery) => boolean, why: string): void {
    for (const holder of this.holders) holder.jobsGone(isGone, why);
  }

  /** Refuses calls after the close, before they start anything that would never be closed. */
  hold<H extends Holder>(make: () => H): H {
    if (this.#isClosed)
      throw new SluiceError("CLOSED", "this Sluice is closed; open or connect again");
    const holder = make();
    this.holders.add(holder);
    return holder;
  }

  /** Several processes may work on one queue, so a number alone would not tell them apart. */
  workerName(queue: string): string {
    return `${queue.slice(0, QUEUE_CHARS)}-${this.#mark}-${++this.#workers}`;
  }

  /**
   * Calls back when running handlers have had their time. A fake clock does not advance during a
   * close, so with one the usual time is over when there is no more activity.
   */
  graceOver(timeoutMs: number | undefined, callback: () => void): Timer {
    const activity = timeoutMs === undefined ? this.#activity : undefined;
    if (timeoutMs !== 0 && activity === undefined) {
      return this.clock.at(this.clock.now() + (timeoutMs ?? CLOSE_TIMEOUT_MS), callback);
    }
    let isCancelled = false;
    void Promise.resolve(activity?.settled()).then(() => isCancelled || callback());
    return { cancel: () => (isCancelled = true) };
  }

  /** While closing: undefined when the broker answered within the time, else the error. */
  async lastAnswer(answer: Promise<unknown>, ms: number): Promise<SluiceError | undefined> {
    const late = Promise.withResolvers<SluiceError>();
    const timer = this.clock.at(this.clock.now() + ms, () => {
      const message = `no reply from the broker within ${ms} ms; closing without it`;
      late.resolve(new SluiceError("TIMEOUT", message));
    });
    try {
      return await Promise.race([answer.then(() => undefined), late.promise]);
    } finally {
      timer.cancel();
    }
  }

  /** All holders of leases first, then the port: leases are given back through it. */
  async close(options: CloseOptions): Promise<void> {
    this.#isClosed = true;
    for (const adds of this.#adds.values()) adds.flush();
    const timeoutMs = parseClose(options);
    const deadline = this.clock.now() + (timeoutMs ?? 0);
    await this.closeHolders(options);
    if (timeoutMs === undefined) return this.port.close();
    const left = Math.max(deadline - this.clock.now(), CLOSE_ANSWER_MS);
    await this.port.close({ timeout: left });
  }

  /** Called again while they close, it may shorten the time that they have. */
  async closeHolders(options: CloseOptions): Promise<void> {
    await Promise.all([...this.holders].map((holder) => holder.close(options)));
  }
}
