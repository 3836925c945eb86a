/**
 * Keeps a queue in all the partitions that hold it. A dead letter queue is made by the first death,
 * in the partition where that was; the others make it when it is needed there. Any other queue that
 * a partition lacks is being deleted, and no call may bring it back.
 */
import {
  allQueues,
  type Broker,
  type QueueSettings,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { PartitionCalls } from "./partition-calls.ts";

export class QueueCopies {
  readonly #calls: PartitionCalls;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  /** Makes a call, and once more when only this partition lacked a dead letter queue. */
  async made<T>(queue: string, partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    try {
      return await this.#calls.make(partition, call);
    } catch (error) {
      if (!isNotFound(error) || !(await this.#makeDlq(queue, partition))) throw error;
      return this.#calls.make(partition, call);
    }
  }

  /** The same, for a question that is not waited for without end. */
  askMade<T>(queue: string, partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    return this.#calls.ask(partition, () => this.made(queue, partition, call));
  }

  /** Copies the queue to other partitions; false when none of those that hold it has it. */
  async copy(queue: string, partitions: readonly number[]): Promise<boolean> {
    const held = this.#calls.directory.placementOf(queue);
    const answers = await this.#calls.every(held, (port) => port.queue(queue));
    const config = answers.find(({ value }) => value !== undefined)?.value?.config;
    if (config === undefined) return false;
    await this.#make(queue, config, partitions);
    return true;
  }

  /** The queues whose dead jobs it takes are where it is held, so they can be seen there. */
  async #makeDlq(queue: string, partition: number): Promise<boolean> {
    const placement = this.#calls.directory.placementOf(queue);
    if (placement.length === 1) return false;
    const answers = await this.#calls.every(placement, (port) => allQueues(port));
    const all = answers.flatMap(({ value }) => value ?? []);
    const config = all.find(({ name }) => name === queue)?.config;
    if (config === undefined || !all.some((other) => other.config.dlq === queue)) return false;
    await this.#make(queue, config, [partition]);
    return true;
  }

  async #make(queue: string, config: QueueSettings, partitions: readonly number[]): Promise<void> {
    await Promise.all(
      partitions.map((partition) =>
        this.#calls.ask(partition, (port) => port.setQueue(queue, config)),
      ),
    );
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof SluiceError && toSluiceError(error).code === "QUEUE_NOT_FOUND";
}
