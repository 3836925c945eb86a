/**
 * Moves queues to other partitions. An operator names the partition in the registry; the node that
 * serves it does the rest, and the next owner continues where this one stopped:
 *
 *   1. It makes the queue in its partition, paused, and has new jobs go there.
 *   2. The other partitions work off what they have. New jobs wait, so that no lane is overtaken.
 *   3. When the others have none that wait or run, the queue starts in its new partition.
 *
 * What is delayed stays where it is and runs from there when it is due. In an ordered queue it is
 * waited for too: a job that is tried again goes before those behind it. Dead letters stay as well:
 * nothing takes them before a person looks.
 */
import {
  type Clock,
  type QueueInfo,
  SluiceError,
  type Timer,
  toSluiceError,
} from "@sluice/protocol";
import { MOVE_LOOK_MS, MOVE_SETTLE_MS } from "../limits.ts";
import type { PartitionCalls } from "../router/partition-calls.ts";
import { isNotFound, QueueCopies } from "../router/queue-copies.ts";
import { heldAt, type Placement } from "./placement.ts";
import type { RegistryDirectory } from "./registry-directory.ts";

export interface QueueMovesOptions {
  readonly clock: Clock;
  readonly directory: RegistryDirectory;
  readonly calls: PartitionCalls;
  /** Whether this node serves the partition. */
  readonly isServed: (partition: number) => boolean;
  readonly onError: (error: SluiceError) => void;
  /** How long callers may still add to the former partitions. */
  readonly settleMs?: number | undefined;
}

/** A queue in a partition that it leaves. */
interface Left {
  readonly partition: number;
  readonly info: QueueInfo;
}

export class QueueMoves {
  readonly #options: QueueMovesOptions;
  readonly #copies: QueueCopies;
  readonly #settleMs: number;
  readonly #running = new Set<string>();
  /** Since when a queue is known to be moving. */
  readonly #since = new Map<string, number>();
  /** Queues of which the others had no jobs when they were last looked at. */
  readonly #drained = new Set<string>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: QueueMovesOptions) {
    this.#options = options;
    this.#copies = new QueueCopies(options.calls);
    this.#settleMs = options.settleMs ?? MOVE_SETTLE_MS;
  }

  start(): void {
    this.#setTimer();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #setTimer(): void {
    const { clock } = this.#options;
    this.#timer = clock.at(clock.now() + Math.min(MOVE_LOOK_MS, this.#settleMs), () => {
      this.#look();
      if (!this.#isStopped) this.#setTimer();
    });
    this.#timer.unref?.();
  }

  #look(): void {
    const { directory, isServed, onError } = this.#options;
    for (const { queue, ...placement } of directory.list()) {
      const { to } = placement;
      if (to === undefined || !isServed(to) || this.#running.has(queue)) continue;
      this.#running.add(queue);
      this.#step(queue, placement, to)
        .catch((error) => {
          // Tried again at the next look.
          if (!this.#isStopped) onError(failed(queue, to, error));
        })
        .finally(() => this.#running.delete(queue));
    }
  }

  async #step(queue: string, placement: Placement, to: number): Promise<void> {
    if (heldAt(placement) === undefined) return this.#begin(queue, placement, to);
    const { clock } = this.#options;
    const since = this.#since.get(queue) ?? clock.now();
    this.#since.set(queue, since);
    const others = await this.#others(queue, placement, to);
    const areLeft = await Promise.all(others.map((other) => this.#isLeft(queue, other)));
    if (areLeft.includes(true)) return void this.#drained.delete(queue);
    // Twice, and late: a caller that had not heard of the move may have added meanwhile.
    const wasDrained = this.#drained.has(queue);
    this.#drained.add(queue);
    if (wasDrained && clock.now() - since >= this.#settleMs) {
      await this.#end(queue, to, others[0]?.info.config.paused === true);
    }
  }

  async #begin(queue: string, placement: Placement, to: number): Promise<void> {
    const { calls, directory } = this.#options;
    const [first] = await this.#others(queue, placement, to);
    if (first === undefined) {
      await directory.change(queue, (known) => withoutMove(known ?? placement, to));
      return;
    }
    const { config } = first.info;
    await calls.ask(to, (port) => port.setQueue(queue, { ...config, paused: true }));
    if (config.dlq !== false) await this.#placeDlq(config.dlq, placement, to);
    await directory.change(queue, (known) => {
      if (known?.to !== to) return known ?? placement;
      const others = known.partitions.filter((partition) => partition !== to);
      return { partitions: [...others, to], adds: [to], to };
    });
  }

  /** Jobs stay where they die. A missing queue for them is made by the first death. */
  async #placeDlq(dlq: string, { partitions }: Placement, to: number): Promise<void> {
    const { directory } = this.#options;
    const held = directory.placementOf(dlq);
    const isThere = await this.#copies.copy(dlq, [to]);
    await directory.place(dlq, [...(isThere ? held : partitions), to]);
  }

  async #end(queue: string, to: number, paused: boolean): Promise<void> {
    const { calls, directory } = this.#options;
    await calls.ask(to, (port) => port.setQueue(queue, { paused }));
    await directory.change(queue, (known) => withoutMove(known ?? { partitions: [to] }, to));
    this.#since.delete(queue);
    this.#drained.delete(queue);
  }

  /** The queue in the partitions that it leaves; one that lacks it has none of its jobs. */
  async #others(queue: string, { partitions }: Placement, to: number): Promise<readonly Left[]> {
    const others = partitions.filter((partition) => partition !== to);
    const found = await Promise.all(
      others.map(async (partition) => {
        const info = await this.#options.calls.ask(partition, (port) =>
          port.queue(queue).catch((error) => {
            if (isNotFound(error)) return undefined;
            throw error;
          }),
        );
        return info && { partition, info };
      }),
    );
    return found.filter((one) => one !== undefined);
  }

  /** Whether a job of a later place could overtake one that is still there. */
  async #isLeft(queue: string, { partition, info: { config, stats } }: Left): Promise<boolean> {
    if (stats.running > 0 || (config.ordered && stats.delayed > 0)) return true;
    if (stats.waiting === 0) return false;
    // The figure has the dead letters too.
    const filter = { queues: [queue], states: ["waiting"] } as const;
    const { count } = await this.#options.calls.ask(partition, (port) => port.countJobs(filter));
    return count > 0;
  }
}

function withoutMove(known: Placement, to: number): Placement {
  if (known.to !== to) return known;
  const { to: _, ...rest } = known;
  return rest;
}

function failed(queue: string, to: number, cause: unknown): SluiceError {
  const { code, message } = toSluiceError(cause);
  const text = `the queue ${queue} does not move to partition ${to} yet: ${message}`;
  return new SluiceError(code, text, { queue, partition: to }, { cause });
}
