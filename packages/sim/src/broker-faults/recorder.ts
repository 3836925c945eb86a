// A broker under observation: makes calls, and writes down everything that goes in and comes out.

import {
  type Broker,
  type Consumer,
  type ErrorCode,
  type LeasedJob,
  SluiceError,
} from "@sluice/protocol";
import { readBody } from "./body.ts";
import { perform } from "./perform.ts";
import {
  type Delivered,
  type HistoryRecord,
  type ItemAnswer,
  isUnwatched,
  OWN_WORKER,
  type PortCall,
} from "./record.ts";

export interface RecorderParts {
  readonly broker: Broker;
  // The broker's own time, and how far the clock on the wall is ahead of it.
  readonly now: () => number;
  readonly wallAheadMs: () => number;
  readonly write: (record: HistoryRecord) => void;
  // Numbers of calls go on over the lives of a broker.
  readonly firstCall: number;
}

export class Recorder {
  readonly broker: Broker;
  readonly #now: () => number;
  readonly #wallAheadMs: () => number;
  readonly #write: (record: HistoryRecord) => void;
  #calls: number;
  #open = 0;
  #isOver = false;
  // Rejections that are in no catalogue, or that no call may have.
  onStrange: (error: unknown, call: PortCall) => void = () => {};
  onJobs: (jobs: readonly Delivered[], to: string) => void = () => {};

  constructor({ broker, now, wallAheadMs, write, firstCall }: RecorderParts) {
    this.broker = broker;
    this.#now = now;
    this.#wallAheadMs = wallAheadMs;
    this.#write = write;
    this.#calls = firstCall;
  }

  get calls(): number {
    return this.#calls;
  }

  // Calls that wait for their answer.
  get open(): number {
    return this.#open;
  }

  // The broker is gone. Anything that still arrives from it is too late.
  end(isClean: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#write({ is: "end", at: this.#now(), isClean });
  }

  // Answers when the call is answered; with the code when it was refused as a whole.
  async call(call: PortCall): Promise<readonly ItemAnswer[] | ErrorCode> {
    const n = this.#calls++;
    this.#put({ is: "call", n, at: this.#now(), wallAheadMs: this.#wallAheadMs(), call });
    this.#open++;
    try {
      const items =
        call.call === "poll" ? await this.#poll(call) : await perform(this.broker, call);
      this.#put({ is: "answer", n, at: this.#now(), items });
      return this.#isOver ? "CLOSED" : items;
    } catch (error) {
      const code = error instanceof SluiceError ? error.code : "INTERNAL";
      if (code === "INTERNAL") this.onStrange(error, call);
      // A log that failed may have kept it all the same: there is no answer.
      if (code !== "LOG_FAILED") {
        this.#put({ is: "answer", n, at: this.#now(), items: [{ error: code }] });
      }
      return code;
    } finally {
      this.#open--;
    }
  }

  async #poll(call: Extract<PortCall, { call: "poll" }>): Promise<ItemAnswer[]> {
    const { queue, worker, max, wait, lease } = call;
    const jobs = await this.broker.lease(queue, { worker, max, wait, lease });
    if (jobs.length > 0) this.#deliver(jobs, worker, lease);
    return [{ ok: jobs.length }];
  }

  async consume(
    queue: string,
    worker: string,
    credits: number,
    lease: number,
  ): Promise<Consumer | undefined> {
    try {
      const inProcess = worker.startsWith(OWN_WORKER);
      return await this.broker.consume(queue, { worker, credits, lease, inProcess }, (jobs) =>
        this.#deliver(jobs, worker, lease),
      );
    } catch (error) {
      if (error instanceof SluiceError && error.code !== "INTERNAL") return undefined;
      throw error;
    }
  }

  async listen(): Promise<void> {
    for await (const event of this.broker.events()) {
      if (!("queue" in event) || !isUnwatched(event.queue)) this.#put({ is: "event", event });
    }
  }

  #deliver(jobs: readonly LeasedJob[], to: string, leaseMs: number): void {
    const delivered = jobs.map((job) => ({
      id: job.id,
      lease: job.lease,
      queue: job.queue,
      attempt: job.attempt,
      attempts: job.attempts,
      tier: job.tier,
      expiresAt: job.expiresAt,
      body: readBody(job),
    }));
    this.#put({ is: "delivery", at: this.#now(), to, leaseMs, jobs: delivered });
    if (!this.#isOver) this.onJobs(delivered, to);
  }

  #put(record: HistoryRecord): void {
    if (!this.#isOver) this.#write(record);
  }
}
