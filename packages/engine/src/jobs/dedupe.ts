import { KeyTable } from "../tables/keys.ts";
import { Table } from "../tables/table.ts";
import { Timers } from "../tables/timers.ts";
import type { Ending } from "../types.ts";
import { ChunkedArray } from "./job-table.ts";

/** A dedupe key that is taken: by which job, and for `window` until when, finished or not. */
export interface HeldKey {
  readonly queue: number;
  readonly entry: number;
  id: number;
  until: number;
}

/** The dedupe keys that are taken, by queue. */
export class Dedupes {
  readonly #keys: KeyTable;
  readonly #held = new ChunkedArray<HeldKey>();
  readonly #rows = new Table(2);
  /** When the windows of keys are over. */
  readonly windows = new Timers(this.#rows, 1);

  constructor(seed: number) {
    this.#keys = new KeyTable(seed);
  }

  find(queue: number, key: string, now: number): HeldKey | undefined {
    const entry = this.#keys.find(queue, key);
    const held = entry === 0 ? undefined : this.#held.get(this.#keys.valueOf(entry));
    return held !== undefined && held.until <= now ? undefined : held;
  }

  /** Takes a key for a job; answers its row. `until` is Infinity when the job's end frees it. */
  hold(queue: number, key: string, id: number, until: number): number {
    const known = this.#keys.valueOf(this.#keys.intern(queue, key));
    // A snapshot tells of a window twice: with its job, and by itself.
    if (known !== 0 && this.#held.get(known)!.id === id) return known;
    if (known !== 0) this.free(known);
    const made = this.#keys.intern(queue, key);
    const row = this.#rows.alloc();
    this.#keys.setValue(made, row);
    this.#held.set(row, { queue, entry: made, id, until });
    if (until !== Number.POSITIVE_INFINITY) this.windows.add(row, until, row);
    return row;
  }

  get(row: number): HeldKey | undefined {
    return this.#held.get(row);
  }

  keyOf(held: HeldKey): string {
    return this.#keys.keyOf(held.entry);
  }

  /** The job has ended: the key is free, unless it did its work and its window runs on. */
  jobEnded(row: number, id: number, ending: Ending): void {
    const held = this.#held.get(row);
    const runsOn = ending === "finished" && held?.until !== Number.POSITIVE_INFINITY;
    if (held?.id === id && !runsOn) this.free(row);
  }

  free(row: number): void {
    const held = this.#held.get(row)!;
    if (this.windows.has(row)) this.windows.remove(row);
    this.#keys.remove(held.entry);
    this.#held.set(row, undefined);
    this.#rows.free(row);
  }

  /** Frees one key whose window is over. */
  expire(): void {
    this.free(this.windows.peek());
  }

  *all(): Generator<HeldKey> {
    for (let row = 1; row < this.#rows.end; row++) {
      const held = this.#held.get(row);
      if (held !== undefined) yield held;
    }
  }
}
