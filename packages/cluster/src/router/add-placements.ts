/**
 * Where jobs of a queue went before it moved or was spread further. A call that is repeated under
 * its operation id after that must be made where it was made the first time: the partitions that
 * take the queue's jobs now do not know it.
 */
import { MOVED_MS } from "../limits.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { RecentNames } from "./recent-names.ts";

export class AddPlacements {
  readonly #calls: PartitionCalls;
  /** Where queues take jobs, and since when this process knows that. */
  readonly #seen = new RecentNames<{ readonly shape: string; readonly sinceMs: number }>();

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  /**
   * The placements that a call of this id may have been made in before; none: it cannot have been.
   * A numbered call may be repeated days later.
   */
  before(queue: string, operationId: string): readonly (readonly number[])[] {
    const { directory } = this.#calls;
    const all = directory.placementOf(queue);
    if (all.length === 1) return [];
    const adds = directory.addsTo(queue);
    const isAsked =
      directory.heldAt(queue) !== undefined ||
      operationId.startsWith("numbered:") ||
      this.#isNew(queue, `${all.join()} ${adds.join()}`);
    if (!isAsked) return [];
    // A spread grows at its end, and a queue moves to one partition.
    const placements = [...all.map((one) => [one]), ...beginningsOf(all), ...beginningsOf(adds)];
    const byName = new Map(placements.map((placement) => [placement.join(), placement]));
    byName.delete(adds.join());
    return [...byName.values()];
  }

  /** Whether a call that was made before the change may still be repeated. */
  #isNew(queue: string, shape: string): boolean {
    const nowMs = this.#calls.clock.now();
    const known = this.#seen.get(queue);
    if (known?.shape === shape) return nowMs < known.sinceMs + MOVED_MS;
    this.#seen.set(queue, { shape, sinceMs: nowMs });
    return true;
  }
}

function beginningsOf(list: readonly number[]): (readonly number[])[] {
  return list.map((_, i) => list.slice(0, i + 1));
}
