import { join } from "node:path";
import { type Disk, type DiskFile, readAll } from "./disk.ts";
import { damaged, failed, flawed, newerVersion } from "./errors.ts";
import { FACTS } from "./frame.ts";
import { AHEAD_BYTES_MAX } from "./limits.ts";
import type { Batch, ReplayOptions } from "./log.ts";
import type { Segment } from "./recover.ts";
import { segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

/** A segment to go through, its file open if not all of it is in memory. */
interface Loaded {
  readonly segment: Segment;
  readonly path: string;
  readonly reader: SegmentReader;
  readonly file: DiskFile | undefined;
}

/**
 * The batches of the segments, every byte checked. While the batches of one segment are gone
 * through, the next one is read. One generator for all of them: with one within another a batch
 * of 1 KB took 1.8 µs instead of 1.4.
 */
export async function* replaySegments(
  disk: Disk,
  dir: string,
  segments: readonly Segment[],
  { reuse = false }: ReplayOptions,
  onEnd: () => void,
): AsyncGenerator<Batch, void, undefined> {
  const loading = new SegmentsAhead(disk, dir, segments, reuse);
  let link: number | undefined;
  let file: DiskFile | undefined;
  try {
    for (let next = await loading.next(); next !== undefined; next = await loading.next()) {
      const { segment, path, reader } = next;
      file = next.file;
      await begin(reader, path, segment, link);
      do {
        for (let frame = reader.take(); frame !== undefined; frame = reader.take()) {
          if (frame.kind === FACTS) yield { position: frame.position, facts: frame.body };
        }
      } while (await reader.fill());
      if (reader.flaw !== undefined) throw flawed(path, reader.offset, reader.flaw);
      link = reader.link;
      await file?.close();
      file = undefined;
    }
    onEnd();
  } catch (error) {
    throw failed("reading the log", dir, error);
  } finally {
    await file?.close();
    await loading.close();
  }
}

/** Loads one segment ahead of the one that is gone through. */
class SegmentsAhead {
  readonly #disk: Disk;
  readonly #dir: string;
  readonly #segments: readonly Segment[];
  readonly #windows: Windows;
  #index = 0;
  #ahead: Promise<Loaded> | undefined;

  constructor(disk: Disk, dir: string, segments: readonly Segment[], isReused: boolean) {
    this.#disk = disk;
    this.#dir = dir;
    this.#segments = segments;
    this.#windows = new Windows(isReused);
    this.#begin();
  }

  /** The next segment; the one before it is done with. */
  async next(): Promise<Loaded | undefined> {
    const loaded = await this.#ahead;
    this.#begin();
    return loaded;
  }

  /** Nothing is under way any more. */
  async close(): Promise<void> {
    await this.#ahead?.then(({ file }) => file?.close()).catch(() => {});
  }

  #begin(): void {
    const segment = this.#segments[this.#index++];
    this.#ahead =
      segment === undefined
        ? undefined
        : loadSegment(this.#disk, this.#dir, segment, this.#windows);
    // It is waited for when its turn comes, and by then it may have failed.
    this.#ahead?.catch(() => {});
  }
}

/** Memory for whole segments, in turn: one is gone through while the next one is read. */
class Windows {
  readonly #isReused: boolean;
  #next: Uint8Array = new Uint8Array(0);
  #current: Uint8Array = new Uint8Array(0);

  constructor(isReused: boolean) {
    this.#isReused = isReused;
  }

  take(sizeBytes: number): Uint8Array {
    if (!this.#isReused) return newWindow(sizeBytes);
    const free = this.#next.length < sizeBytes ? newWindow(sizeBytes) : this.#next;
    this.#next = this.#current;
    this.#current = free;
    return free.subarray(0, sizeBytes);
  }
}

/** No Buffer, see `SegmentReader`. */
function newWindow(sizeBytes: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(sizeBytes).buffer);
}

async function loadSegment(
  disk: Disk,
  dir: string,
  segment: Segment,
  windows: Windows,
): Promise<Loaded> {
  const path = join(dir, segmentName(segment.base));
  const sizeBytes = segment.end - segment.base;
  const file = await disk.open(path, "read");
  const reader = new SegmentReader(file, segment.base, sizeBytes);
  const loaded = { segment, path, reader };
  if (sizeBytes > AHEAD_BYTES_MAX) return { ...loaded, file };
  try {
    const window = windows.take(sizeBytes);
    reader.use(window.subarray(0, await readAll(file, window, 0)));
    return { ...loaded, file: undefined };
  } finally {
    await file.close();
  }
}

/** `link` is the checksum of the last frame before the segment, when there is one. */
async function begin(
  reader: SegmentReader,
  path: string,
  { base }: Segment,
  link: number | undefined,
): Promise<void> {
  const header = await reader.header();
  if (header === "version") throw newerVersion(path, 0);
  if (header === "broken" || header.base !== base) throw damaged(path, 0, "the header is broken");
  if (link !== undefined && header.link !== link) {
    throw damaged(path, 0, "the segment does not follow the one before it");
  }
  reader.link = header.link;
}
