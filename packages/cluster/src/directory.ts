/** What a router must know of a cluster, and how it reaches it. */
import type { Broker, Duration } from "@sluice/protocol";
import { homeOfQueue } from "./hash.ts";

/** Which queue is where, as far as this process knows. */
export interface Directory {
  /** How many there are; more may be added. */
  readonly partitions: number;
  /** How many there were when the cluster was made: names are divided over them for good. */
  readonly homes: number;
  /** Whether the queue has been placed. */
  isPlaced(queue: string): boolean;
  /** The partitions that hold the queue; its home alone for one that was never placed. */
  placementOf(queue: string): readonly number[];
  /** Those of them that take new jobs: all, but for a queue that was moved. */
  addsTo(queue: string): readonly number[];
  /** The partition that holds its jobs back while the queue moves there. */
  heldAt(queue: string): number | undefined;
  /**
   * Adds to the partitions that hold the queue: none is ever taken off, and those that were there
   * keep their order. Resolves when `placementOf` answers so in this process.
   */
  place(queue: string, partitions: readonly number[]): Promise<void>;
  /** The queue is gone: one of that name begins at its home again. */
  unplace(queue: string): Promise<void>;
  /** Who owns a partition, if that is known: a queue is spread over different nodes. */
  ownerOf?(partition: number): string | undefined;
  /** Calls back after placements have changed; the answer ends that. */
  onChange(listener: () => void): () => void;
}

/** The ports of the partitions, whichever node owns them. */
export interface Partitions {
  /** Calls wait while no node owns the partition; they are made again when it has moved. */
  port(partition: number): Broker;
  /** Leaves them all, so that what this process holds goes back at once. */
  close(options?: { timeout?: Duration | undefined }): Promise<void>;
}

/** A directory for one process. */
export class MemoryDirectory implements Directory {
  readonly partitions: number;
  readonly #placements = new Map<string, readonly number[]>();
  readonly #listeners = new Set<() => void>();

  readonly homes: number;

  constructor(partitions: number, homes: number = partitions) {
    this.partitions = partitions;
    this.homes = homes;
  }

  isPlaced(queue: string): boolean {
    return this.#placements.has(queue);
  }

  placementOf(queue: string): readonly number[] {
    return this.#placements.get(queue) ?? [homeOfQueue(queue, this.homes)];
  }

  addsTo(queue: string): readonly number[] {
    return this.placementOf(queue);
  }

  heldAt(): undefined {}

  async place(queue: string, partitions: readonly number[]): Promise<void> {
    const known = this.#placements.get(queue) ?? [];
    this.#placements.set(queue, [...new Set([...known, ...partitions])]);
    this.#changed();
  }

  async unplace(queue: string): Promise<void> {
    if (this.#placements.delete(queue)) this.#changed();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
