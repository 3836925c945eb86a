/** The calls about queues that take steps, or put pages of several partitions together. */
import {
  allQueues,
  type DeleteQueueOptions,
  invalid,
  type LaneStats,
  type LanesOptions,
  type Page,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type RedriveOptions,
  rowOf,
  type SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import { homeOfQueue } from "../hash.ts";
import { PAGE } from "../limits.ts";
import { mergeQueues } from "./merge-queues.ts";
import { pageByValue, pageInTurn } from "./pages.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { plainCall } from "./plain-calls.ts";
import { isNotFound, type QueueCopies } from "./queue-copies.ts";

const NOT_FOUND = ["QUEUE_NOT_FOUND"] as const;

const inspect = plainCall("queue", rowOf("queue"));

export class ClusterQueues {
  readonly #calls: PartitionCalls;
  readonly #copies: QueueCopies;

  constructor(calls: PartitionCalls, copies: QueueCopies) {
    this.#calls = calls;
    this.#copies = copies;
  }

  /**
   * The first partition judges the options, so that what is refused has changed nothing. Then the
   * queue is made wherever it is to be held, and only then does the directory say so: jobs go where
   * the queue is already.
   */
  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    const { directory } = this.#calls;
    const { spread, ...own } = options ?? {};
    const held = await this.#placeNew(queue);
    const wanted = this.#spreadTo(queue, held, spread);
    const [first, ...others] = held as [number, ...number[]];
    // Not to be resumed there before the other partitions have no jobs of it any more.
    const heldAt = directory.heldAt(queue);
    const { paused: _, ...unpaused } = own;
    const { config } = await this.#calls.ask(first, (port) =>
      port.setQueue(queue, options === undefined || options === null ? options : own),
    );
    const added = wanted.filter((partition) => !held.includes(partition));
    await Promise.all([
      ...others.map((partition) =>
        this.#change(queue, partition, partition === heldAt ? unpaused : own, config),
      ),
      ...added.map((partition) =>
        this.#calls.ask(partition, (port) => port.setQueue(queue, config)),
      ),
    ]);
    if (config.dlq !== false) await this.#placeDlq(config.dlq, wanted);
    const isElsewhere = wanted.some((one) => !directory.placementOf(queue).includes(one));
    if (isElsewhere) await directory.place(queue, wanted);
    return this.queue(queue);
  }

  /**
   * Where a queue is, or is to be if it is new: partitions that were added to the cluster are homes
   * of nothing, so new queues are divided over all partitions and their places are noted.
   */
  async #placeNew(queue: string): Promise<readonly number[]> {
    const { directory } = this.#calls;
    const held = directory.placementOf(queue);
    const place = homeOfQueue(queue, directory.partitions);
    const isOld = directory.partitions === directory.homes || directory.isPlaced(queue);
    if (isOld || held.includes(place)) return held;
    const isThere = await this.#calls.ask(held[0]!, (port) =>
      port.queue(queue).then(
        () => true,
        (error) => {
          if (isNotFound(error)) return false;
          throw error;
        },
      ),
    );
    return isThere ? held : [place];
  }

  /** One that lacks the queue needs all its options, the others what is new. */
  async #change(
    queue: string,
    partition: number,
    options: QueueOptions,
    all: QueueOptions,
  ): Promise<void> {
    await this.#calls.ask(partition, async (port) => {
      const isThere = await port.queue(queue).then(
        () => true,
        (error) => {
          if (isNotFound(error)) return false;
          throw error;
        },
      );
      await port.setQueue(queue, isThere ? options : all);
    });
  }

  /** The partitions that are to hold the queue: those that do, and as many more as asked for. */
  #spreadTo(queue: string, held: readonly number[], spread: number | undefined): readonly number[] {
    const { partitions } = this.#calls.directory;
    if (spread === undefined) return held;
    if (!Number.isInteger(spread) || spread < 1 || spread > partitions) {
      throw invalid("queue.spread", `an integer from 1 to ${partitions}`, spread);
    }
    const taking = this.#calls.directory.addsTo(queue).length;
    if (spread < taking) {
      throw invalid("queue.spread", `at least ${taking}: it can only grow`, spread);
    }
    const home = homeOfQueue(queue, partitions);
    const wanted = [...held];
    const left = Array.from({ length: partitions }, (_, i) => (home + i) % partitions);
    while (wanted.length < spread + held.length - taking) {
      const free = left.filter((partition) => !wanted.includes(partition));
      wanted.push(this.#leastLoaded(free, wanted));
    }
    return wanted;
  }

  /** The first of those whose owner has the fewest of the others. */
  #leastLoaded(free: readonly number[], taken: readonly number[]): number {
    const { directory } = this.#calls;
    const loadOf = (partition: number): number => {
      const owner = directory.ownerOf?.(partition);
      return taken.filter((other) => directory.ownerOf?.(other) === owner).length;
    };
    return free.reduce((best, one) => (loadOf(one) < loadOf(best) ? one : best));
  }

  /**
   * Jobs stay where they die, so their dead letter queue is wherever they are. One that is there
   * already is made there as it is; another one is made by the first death.
   */
  async #placeDlq(dlq: string, partitions: readonly number[]): Promise<void> {
    const { directory } = this.#calls;
    const held = directory.placementOf(dlq);
    const added = partitions.filter((partition) => !held.includes(partition));
    if (added.length === 0) return;
    const isThere = await this.#copies.copy(dlq, added);
    await directory.place(dlq, isThere ? [...held, ...added] : partitions);
  }

  /** `isNamed`: the caller has given the operation id, and may repeat the call. */
  async deleteQueue(
    queue: string,
    options: DeleteQueueOptions,
    isNamed: boolean,
  ): Promise<QueueDeleted> {
    const { directory } = this.#calls;
    const isDlq = (await allQueues(this)).some(({ config }) => config.dlq === queue);
    // Where dead letters are must not be forgotten while jobs can die there.
    const forget = async (): Promise<void> => (isDlq ? undefined : directory.unplace(queue));
    const deleted = { lettersKept: 0, lettersDeleted: 0 };
    try {
      const parts = await this.#calls.known(directory.placementOf(queue), NOT_FOUND, (port) =>
        port.deleteQueue(queue, options),
      );
      for (const { value } of parts) {
        deleted.lettersKept += value.lettersKept;
        deleted.lettersDeleted += value.lettersDeleted;
      }
    } catch (error) {
      // An earlier call may have been cut off when all was done but this.
      if (isNotFound(error)) await forget();
      throw error;
    }
    // A call that was repeated has deleted nothing: the queue may have been made again meanwhile.
    if (!isNamed || !(await this.#isThere(queue))) await forget();
    return deleted;
  }

  async #isThere(queue: string): Promise<boolean> {
    return this.queue(queue).then(
      () => true,
      (error) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
  }

  async queue(queue: string): Promise<QueueInfo> {
    return (await inspect(this.#calls, [queue])) as QueueInfo;
  }

  /**
   * Each partition answers a page of its own from the cursor on. A name among the first `limit` of
   * all is among the first `limit` of every partition that has it, so nothing is missing.
   */
  async queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    const { partial = false, limit = PAGE, ...rest } = options;
    const page = { ...rest, limit };
    const { all } = this.#calls;
    const answers = partial
      ? (await this.#calls.look(all, [], (port) => port.queues(page))).seen
      : await this.#calls.known(all, [], (port) => port.queues(page));
    const byName = new Map<string, { partition: number; info: QueueInfo }[]>();
    for (const { partition, value } of answers) {
      for (const info of value.items) {
        const known = byName.get(info.name) ?? [];
        byName.set(info.name, [...known, { partition, info }]);
      }
    }
    const names = [...byName.keys()].sort();
    const shown = names.slice(0, limit);
    const items = this.#merged(shown, byName);
    const isMore = answers.some(({ value }) => value.cursor !== undefined);
    const last = shown.at(-1);
    const isLast = last === undefined || (!isMore && shown.length === names.length);
    return isLast ? { items } : { items, cursor: last };
  }

  #merged(
    names: readonly string[],
    byName: ReadonlyMap<string, { partition: number; info: QueueInfo }[]>,
  ): QueueInfo[] {
    return names.map((name) => {
      const placement = this.#calls.directory.placementOf(name);
      const found = byName.get(name)!;
      const rank = (partition: number): number =>
        placement.includes(partition) ? placement.indexOf(partition) : placement.length;
      found.sort((a, b) => rank(a.partition) - rank(b.partition));
      return mergeQueues(
        found.map(({ info }) => info),
        this.#calls.directory.addsTo(name).length,
      );
    });
  }

  /** Oldest first holds within each partition; those before take from the count first. */
  async redrive(queue: string, { count, ...operation }: RedriveOptions): Promise<number> {
    const refusals: SluiceError[] = [];
    const placement = this.#calls.directory.placementOf(queue);
    let moved = 0;
    for (const partition of placement) {
      if (count !== undefined && moved > 0 && moved >= count) break;
      const left = count === undefined ? operation : { ...operation, count: count - moved };
      try {
        moved += await this.#calls.make(partition, (port) => port.redrive(queue, left));
      } catch (error) {
        const refusal = toSluiceError(error);
        if (refusal.code !== "NOT_A_DLQ" && !isNotFound(refusal)) throw error;
        refusals.push(refusal);
      }
    }
    if (refusals.length < placement.length) return moved;
    throw refusals.find((refusal) => !isNotFound(refusal)) ?? refusals[0]!;
  }

  lanes(queue: string, options: LanesOptions): Promise<Page<LaneStats>> {
    const placement = this.#calls.directory.placementOf(queue);
    const { cursor: _, ...rest } = options;
    const read = (partition: number, page: LanesOptions): Promise<Page<LaneStats>> =>
      this.#copies.askMade(queue, partition, (port) => port.lanes(queue, { ...rest, ...page }));
    const { sort } = options;
    if (sort === undefined || placement.length === 1) return pageInTurn(placement, options, read);
    return pageByValue(placement, options, (lane) => lane[sort], read);
  }
}
