/** Where queues are, kept in the registry so that all nodes know the same. */
import type { Directory } from "../directory.ts";
import { homeOfQueue } from "../hash.ts";
import type { Registry, WatchedEntry } from "../registry/registry.ts";
import { isConflict } from "../within.ts";

const QUEUE_PREFIX = "queue.";

interface Placed {
  /** Undefined: it was taken back here, and the word of it has not come round yet. */
  readonly partitions: readonly number[] | undefined;
  readonly revision: number;
}

export class RegistryDirectory implements Directory {
  readonly partitions: number;
  readonly #registry: Registry;
  readonly #placements = new Map<string, Placed>();
  readonly #listeners = new Set<() => void>();

  constructor(registry: Registry, partitions: number) {
    this.#registry = registry;
    this.partitions = partitions;
  }

  placementOf(queue: string): readonly number[] {
    return this.#placements.get(queue)?.partitions ?? [homeOfQueue(queue, this.partitions)];
  }

  /** Those that are elsewhere than at home alone. */
  list(): { queue: string; partitions: readonly number[] }[] {
    return [...this.#placements].flatMap(([queue, { partitions }]) =>
      partitions === undefined ? [] : [{ queue, partitions }],
    );
  }

  async place(queue: string, partitions: readonly number[]): Promise<void> {
    const key = keyOf(queue);
    for (;;) {
      const found = await this.#registry.get(key);
      const known = found === undefined ? [] : partitionsOf(found.value);
      const all = [...new Set([...known, ...partitions])];
      if (found !== undefined && all.length === known.length) {
        return this.#set(queue, known, found.revision);
      }
      const value = JSON.stringify({ partitions: all });
      try {
        const written = found
          ? this.#registry.update(key, value, found.revision)
          : this.#registry.create(key, value);
        return this.#set(queue, all, await written);
      } catch (error) {
        // Somebody else places the same queue: both shall have their way.
        if (!isConflict(error)) throw error;
      }
    }
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
    const queue = Buffer.from(key.slice(QUEUE_PREFIX.length), "base64url").toString();
    this.#set(queue, value === undefined ? undefined : partitionsOf(value), revision);
    // What was said before has been heard by now.
    const known = this.#placements.get(queue);
    if (value === undefined && known?.partitions === undefined) this.#placements.delete(queue);
  }

  #set(queue: string, partitions: readonly number[] | undefined, revision: number): void {
    const known = this.#placements.get(queue);
    if (known !== undefined && known.revision >= revision) return;
    this.#placements.set(queue, { partitions, revision });
    if (known?.partitions !== undefined || partitions !== undefined) this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function keyOf(queue: string): string {
  return QUEUE_PREFIX + Buffer.from(queue).toString("base64url");
}

function partitionsOf(text: string): number[] {
  try {
    const { partitions } = JSON.parse(text) as { partitions?: unknown };
    return Array.isArray(partitions) ? partitions.filter(Number.isInteger) : [];
  } catch {
    return [];
  }
}
