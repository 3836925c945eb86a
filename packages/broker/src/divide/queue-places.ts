/**
 * Which partition gets a queue: its home, or where the queues are that its jobs depend on. Dead
 * letters stay with the queue they came from, so their queue may be in several partitions.
 */
import type { JobRecord, QueueConfig } from "@sluice/engine";
import type { PartHomes } from "./part-homes.ts";

interface PlacedJob {
  readonly queue: string;
  /** The queue whose partition it is in: for a dead letter the one it came from. */
  readonly owner: string;
}

export class QueuePlaces {
  readonly #homes: PartHomes;
  /** Queues in one partition, each with one that is nearer to the first of them. */
  readonly #joined = new Map<string, string>();
  /** By a queue for dead letters: those whose jobs die into it. */
  readonly #dying = new Map<string, Set<string>>();
  readonly #jobs = new Map<number, PlacedJob>();
  /** By the flow that is not sealed, one of its jobs. */
  readonly #flows = new Map<number, number>();
  readonly #links: [one: number, other: number][] = [];
  readonly #placements = new Map<string, readonly number[]>();

  constructor(homes: PartHomes) {
    this.#homes = homes;
  }

  add(queue: string, { dlq }: Pick<QueueConfig, "dlq">): void {
    if (!this.#joined.has(queue)) this.#joined.set(queue, queue);
    if (dlq === false) return;
    const dying = this.#dying.get(dlq) ?? new Set();
    this.#dying.set(dlq, dying.add(queue));
  }

  /** Called with every job, before `settle`. */
  link({ id, queue, extra, after = [], flow }: JobRecord): void {
    const from = extra?.origin?.queue;
    const owner = from !== undefined && this.#joined.has(from) ? from : queue;
    this.#jobs.set(id, { queue, owner });
    for (const edge of after) this.#links.push([id, edge.id]);
    if (flow === undefined) return;
    const other = this.#flows.get(flow);
    if (other === undefined) this.#flows.set(flow, id);
    else this.#links.push([id, other]);
  }

  settle(): void {
    for (const [one, other] of this.#links) this.#join(one, other);
    const held = new Map<string, Set<number>>();
    for (const { queue, owner } of this.#jobs.values()) {
      const places = held.get(queue) ?? new Set();
      held.set(queue, places.add(this.#partitionOf(owner)));
    }
    for (const queue of this.#joined.keys()) {
      const dying = [...(this.#dying.get(queue) ?? [])].map((one) => this.#partitionOf(one));
      const places = new Set([...(held.get(queue) ?? []), ...dying]);
      if (places.size === 0 || dying.length === 0) places.add(this.#partitionOf(queue));
      this.#placements.set(queue, [...places]);
    }
  }

  /** The partitions that hold a queue; of one that is not known, its home. */
  placesOf(queue: string): readonly number[] {
    return this.#placements.get(queue) ?? [this.#homes.homeOfQueue(queue)];
  }

  partitionOfJob(id: number): number {
    return this.#partitionOf(this.#jobs.get(id)!.owner);
  }

  hasJob(id: number): boolean {
    return this.#jobs.has(id);
  }

  /** Where an open flow is; undefined while it has no jobs. */
  partitionOfFlow(flow: number): number | undefined {
    const job = this.#flows.get(flow);
    return job === undefined ? undefined : this.partitionOfJob(job);
  }

  /** Those that are not at home alone. */
  elsewhere(): Record<string, readonly number[]> {
    const found = [...this.#placements].filter(
      ([queue, places]) => places.length !== 1 || places[0] !== this.#homes.homeOfQueue(queue),
    );
    return Object.fromEntries(found);
  }

  #join(one: number, other: number): void {
    const [a, b] = [this.#jobs.get(one), this.#jobs.get(other)];
    if (a === undefined || b === undefined) return;
    const [first, second] = [this.#firstOf(a.owner), this.#firstOf(b.owner)];
    if (first !== second) this.#joined.set(second, first);
  }

  #firstOf(queue: string): string {
    let first = queue;
    for (let next = this.#joined.get(first); next !== undefined && next !== first; ) {
      first = next;
      next = this.#joined.get(first);
    }
    return first;
  }

  #partitionOf(queue: string): number {
    return this.#homes.homeOfQueue(this.#firstOf(queue));
  }
}
