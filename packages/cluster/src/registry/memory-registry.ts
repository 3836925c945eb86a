import {
  checkKey,
  checkValue,
  closedRegistry,
  conflict,
  type Entry,
  isWatched,
  type Registry,
  type WatchedEntry,
} from "./registry.ts";

type OnEntry = (entry: WatchedEntry) => void;

/** What several handles have in common. */
interface Shared {
  readonly entries: Map<string, Entry>;
  readonly listeners: Set<OnEntry>;
  revision: number;
}

/** A registry within one process, for tests and simulations: one handle for each node. */
export class MemoryRegistry implements Registry {
  readonly #shared: Shared;
  readonly #stops = new Set<() => void>();
  #isClosed = false;

  /** A new registry, or another handle on one. */
  constructor(other?: MemoryRegistry) {
    this.#shared =
      other === undefined
        ? { entries: new Map(), listeners: new Set(), revision: 0 }
        : other.#shared;
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#check(key);
    return this.#shared.entries.get(key);
  }

  async create(key: string, value: string): Promise<number> {
    this.#check(key);
    checkValue(value);
    if (this.#shared.entries.has(key)) throw conflict(key);
    return this.#set(key, value);
  }

  async update(key: string, value: string, revision: number): Promise<number> {
    this.#check(key);
    checkValue(value);
    if (this.#shared.entries.get(key)?.revision !== revision) throw conflict(key);
    return this.#set(key, value);
  }

  async delete(key: string, revision: number): Promise<void> {
    this.#check(key);
    if (this.#shared.entries.get(key)?.revision !== revision) throw conflict(key);
    this.#shared.entries.delete(key);
    this.#tell({ key, value: undefined, revision: ++this.#shared.revision });
  }

  async watch(keys: readonly string[], onEntry: OnEntry): Promise<() => void> {
    if (this.#isClosed) throw closedRegistry();
    let isOver = false;
    // Never inside the call that made the change: the listener may make another.
    const listener: OnEntry = (entry) => {
      if (!isWatched(entry.key, keys)) return;
      queueMicrotask(() => {
        if (!isOver) onEntry(entry);
      });
    };
    const stop = (): void => {
      isOver = true;
      this.#shared.listeners.delete(listener);
      this.#stops.delete(stop);
    };
    for (const [key, entry] of this.#shared.entries) listener({ key, ...entry });
    this.#shared.listeners.add(listener);
    this.#stops.add(stop);
    await new Promise<void>((resolve) => queueMicrotask(resolve));
    return stop;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of [...this.#stops]) stop();
  }

  #check(key: string): void {
    if (this.#isClosed) throw closedRegistry();
    checkKey(key);
  }

  #set(key: string, value: string): number {
    const revision = ++this.#shared.revision;
    this.#shared.entries.set(key, { value, revision });
    this.#tell({ key, value, revision });
    return revision;
  }

  #tell(entry: WatchedEntry): void {
    for (const listener of this.#shared.listeners) listener(entry);
  }
}
