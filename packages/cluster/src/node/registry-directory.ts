/** Where queues are, kept in the registry so that all nodes know the same. */
import type { Directory } from "../directory.ts";
import { homeOfQueue } from "../hash.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { isConflict } from "../within.ts";
import { heldAt, type Placement, parsePlacement, spreadTo } from "./placement.ts";

export const QUEUE_PREFIX = "queue.";

interface Placed {
  /** Undefined: it was taken back here, and the word of it has not come round yet. */
  readonly placement: Placement | undefined;
  readonly revision: number;
}

export class RegistryDirectory implements Directory {
  #partitions: number;
  readonly homes: number;
  readonly #registry: Registry;
  readonly #placements = new Map<string, Placed>();
  readonly #listeners = new Set<() => void>();

  readonly #ownerOf: (partition: number) => string | undefined;

  constructor(
    registry: Registry,
    { partitions, homes = partitions }: { partitions: number; homes?: number },
    ownerOf: (partition: number) => string | undefined = () => undefined,
  ) {
    this.#registry = registry;
    this.#partitions = partitions;
    this.homes = homes;
    this.#ownerOf = ownerOf;
  }

  get partitions(): number {
    return this.#partitions;
  }

  /** The cluster has more partitions from now on. */
  grow(partitions: number): void {
    if (partitions <= this.#partitions) return;
    this.#partitions = partitions;
    this.#changed();
  }

  isPlaced(queue: string): boolean {
    return this.#placements.get(queue)?.placement !== undefined;
  }

  ownerOf(partition: number): string | undefined {
    return this.#ownerOf(partition);
  }

  placementOf(queue: string): readonly number[] {
    return this.#of(queue).partitions;
  }

  addsTo(queue: string): readonly number[] {
    const { adds, partitions } = this.#of(queue);
    return adds ?? partitions;
  }

  heldAt(queue: string): number | undefined {
    return heldAt(this.#of(queue));
  }

  /** Those that are elsewhere than at home alone. */
  list(): ({ queue: string } & Placement)[] {
    return [...this.#placements].flatMap(([queue, { placement }]) =>
      placement === undefined ? [] : [{ queue, ...placement }],
    );
  }

  async place(queue: string, partitions: readonly number[]): Promise<void> {
    await this.change(queue, (known) => {
      const next = spreadTo(known ?? { partitions: [] }, partitions);
      return next.partitions.length === known?.partitions.length ? known : next;
    });
  }

  /**
   * Writes what `change` makes of the placement, again if another writer was faster; what it
   * answers as it was is not written. Resolves with what holds then.
   */
  async change(
    queue: string,
    change: (known: Placement | undefined) => Placement,
  ): Promise<Placement> {
    const key = keyOf(queue);
    for (;;) {
      const found = await this.#registry.get(key);
      const known = found === undefined ? undefined : parsePlacement(found.value);
      const next = change(known);
      if (found !== undefined && next === known) {
        this.#set(queue, known, found.revision);
        return next;
      }
      const value = JSON.stringify(next);
      try {
        const written = found
          ? this.#registry.update(key, value, found.revision)
          : this.#registry.create(key, value);
        this.#set(queue, next, await written);
        return next;
      } catch (error) {
        // Both changes must be kept.
        if (!isConflict(error)) throw error;
      }
    }
  }

  #of(queue: string): Placement {
    const placed = this.#placements.get(queue)?.placement;
    return placed ?? { partitions: [homeOfQueue(queue, this.homes)] };
  }

  async unplace(queue: string): Promise<void> {
    const found = await this.#registry.get(keyOf(queue));
    if (found === undefined) return;
    await this.#registry.delete(keyOf(queue), found.revision);
    this.#set(queue, undefined, found.revision + 1);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An entry of the registry has changed. */
  hear({ key, value, revision }: WatchedEntry): void {
    if (!key.startsWith(QUEUE_PREFIX)) return;
    const queue = queueOf(key);
    this.#set(queue, value === undefined ? undefined : parsePlacement(value), revision);
    // What was said before has been heard by now.
    const known = this.#placements.get(queue);
    if (value === undefined && known?.placement === undefined) this.#placements.delete(queue);
  }

  #set(queue: string, placement: Placement | undefined, revision: number): void {
    const known = this.#placements.get(queue);
    if (known !== undefined && known.revision >= revision) return;
    this.#placements.set(queue, { placement, revision });
    if (known?.placement !== undefined || placement !== undefined) this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The key of the entry that says where a queue is. */
export function keyOf(queue: string): string {
  return QUEUE_PREFIX + Buffer.from(queue).toString("base64url");
}

function queueOf(key: string): string {
  return Buffer.from(key.slice(QUEUE_PREFIX.length), "base64url").toString();
}

/** Where queues are that are not at home alone. */
export async function readPlacements(registry: Registry): Promise<Record<string, Placement>> {
  const found = new Map<string, Placement>();
  const end = await registry.watch([QUEUE_PREFIX], ({ key, value }) => {
    if (value !== undefined) found.set(queueOf(key), parsePlacement(value));
  });
  end();
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
