import { join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { OPEN_SEGMENTS_MAX } from "./limits.ts";
import type { Position } from "./log.ts";
import { segmentName } from "./segment.ts";

interface Entry {
  readonly file: Promise<DiskFile>;
  users: number;
  isDropped: boolean;
}

/** Segments open for reading: opened when first used, the longest unused closed when too many. */
export class SegmentFiles {
  readonly #disk: Disk;
  readonly #dir: string;
  /** In the order of their last use. */
  readonly #entries = new Map<Position, Entry>();
  #isClosed = false;

  constructor(disk: Disk, dir: string) {
    this.#disk = disk;
    this.#dir = dir;
  }

  /** The file stays open while `act` runs. */
  async use<T>(base: Position, act: (file: DiskFile) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(base) ?? this.#open(base);
    entry.users++;
    this.#entries.delete(base);
    if (!entry.isDropped) this.#entries.set(base, entry);
    this.#closeUnused();
    try {
      return await act(await entry.file);
    } catch (error) {
      // One that could not be opened is tried again by the next.
      this.drop(base);
      throw error;
    } finally {
      entry.users--;
      if (entry.isDropped && entry.users === 0) await closeQuietly(entry);
    }
  }

  /** Closes the file when its last reader is done. */
  drop(base: Position): void {
    const entry = this.#entries.get(base);
    if (entry === undefined) return;
    this.#entries.delete(base);
    entry.isDropped = true;
    if (entry.users === 0) void closeQuietly(entry);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) {
      entry.isDropped = true;
      if (entry.users === 0) await closeQuietly(entry);
    }
  }

  #open(base: Position): Entry {
    const file = this.#disk.open(join(this.#dir, segmentName(base)), "read");
    return { file, users: 0, isDropped: this.#isClosed };
  }

  #closeUnused(): void {
    for (const [base, { users }] of this.#entries) {
      if (this.#entries.size <= OPEN_SEGMENTS_MAX) return;
      if (users === 0) this.drop(base);
    }
  }
}

/** Nothing was written through it: an error of its closing does not matter. */
async function closeQuietly({ file }: Entry): Promise<void> {
  await file.then((opened) => opened.close()).catch(() => {});
}
