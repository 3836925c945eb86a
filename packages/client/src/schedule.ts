import type { Broker, ScheduleInfo, ScheduleOptions, Time } from "@sluice/protocol";
import type { Connection } from "./connection.ts";
import { Job } from "./job.ts";
import {
  type CallOptions,
  type OperationOptions,
  parseCall,
  parseOperation,
} from "./parse-call.ts";

/** A named plan that adds a job to its queue at each tick. */
export class Schedule {
  readonly name: string;
  readonly queue: string;
  readonly #connection: Connection;

  /** Users call `sluice.schedule`. @internal */
  constructor(connection: Connection, { name, queue }: Pick<ScheduleInfo, "name" | "queue">) {
    this.#connection = connection;
    this.name = name;
    this.queue = queue;
  }

  /** Replaces its options; what it has done stays. */
  async set(options: ScheduleOptions, call?: CallOptions): Promise<ScheduleInfo> {
    return this.#port.setSchedule(this.queue, this.name, options, parseCall("set", call));
  }

  /** Its options, its next ticks, its last tick and how its last run ended. */
  async info(options?: CallOptions): Promise<ScheduleInfo> {
    return this.#port.schedule(this.queue, this.name, parseCall("info", options));
  }

  /** Its ticks are skipped until `resume`. */
  async pause(options?: CallOptions): Promise<void> {
    await this.#port.pauseSchedule(this.queue, this.name, parseCall("pause", options));
  }

  async resume(options?: CallOptions): Promise<void> {
    await this.#port.resumeSchedule(this.queue, this.name, parseCall("resume", options));
  }

  /** Adds a job of it now, beside its ticks. */
  async run<Payload = unknown, Result = unknown>(
    options?: OperationOptions,
  ): Promise<Job<Payload, Result>> {
    const call = parseOperation("run", options);
    const { id } = await this.#port.runSchedule(this.queue, this.name, call);
    return new Job(this.#connection, { id });
  }

  /** Adds a job for each tick of a range in the past, both ends included; answers how many. */
  async backfill(from: Time, to: Time, options?: OperationOptions): Promise<number> {
    const call = parseOperation("backfill", options);
    return this.#port.backfillSchedule(this.queue, this.name, from, to, call);
  }

  /** Deletes it. Jobs that it has added stay. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#port.deleteSchedule(this.queue, this.name, parseCall("delete", options));
  }

  get #port(): Broker {
    return this.#connection.port;
  }
}
