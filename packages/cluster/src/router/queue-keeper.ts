/**
 * Keeps a queue in all the partitions that hold it. A dead letter queue is made by the first death,
 * in the partition where that was; the others make it when somebody needs it there.
 */
import {
  type Broker,
  type QueueConfig,
  type QueueOptions,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { Reach } from "./reach.ts";

export class QueueKeeper {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  /** Makes a call, and once more when only this partition lacked the queue. */
  async made<T>(queue: string, partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    try {
      return await call(this.#reach.port(partition));
    } catch (error) {
      if (!isNotFound(error) || !(await this.make(queue, [partition]))) throw error;
      return call(this.#reach.port(partition));
    }
  }

  /** The same, for a question that is not waited for without end. */
  askMade<T>(queue: string, partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    return this.#reach.ask(partition, () => this.made(queue, partition, call));
  }

  /** Copies the queue to those that lack it; false when no partition has it. */
  async make(queue: string, partitions: readonly number[]): Promise<boolean> {
    const others = this.#reach.directory
      .placementOf(queue)
      .filter((partition) => !partitions.includes(partition));
    const config = await this.#configOf(queue, others);
    if (config === undefined) return false;
    await Promise.all(
      partitions.map((partition) =>
        this.#reach.ask(partition, (port) => port.setQueue(queue, optionsOf(config))),
      ),
    );
    return true;
  }

  async #configOf(queue: string, partitions: readonly number[]): Promise<QueueConfig | undefined> {
    const answers = await this.#reach.every(partitions, (port) => port.queue(queue));
    return answers.find(({ value }) => value !== undefined)?.value?.config;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof SluiceError && toSluiceError(error).code === "QUEUE_NOT_FOUND";
}

/** What a queue must be told to be like another one. */
export function optionsOf(config: QueueConfig): QueueOptions {
  const { promoteAfterMs, capacity, admission, ttlMs, policy, spread: _, ...rest } = config;
  return {
    ...rest,
    promoteAfterMs: promoteAfterMs ?? null,
    capacity: { ...capacity, perLane: capacity.perLane ?? null },
    ...(admission === undefined ? {} : { admission }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
    policy: policy ?? null,
  };
}
