import { join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { describeFlaw, newerVersion } from "./errors.ts";
import { FACTS, getPosition, TRIM, viewOf } from "./frame.ts";
import type { Batch, Position } from "./log.ts";
import { findSeal, type Sealed } from "./seal-note.ts";
import { findHead, type Place, wasSynced } from "./search.ts";
import { baseOf, HEADER_BYTES, type SegmentHeader, segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

/** Bytes that are not what they should be. None are lost where `lengthBytes` is 0. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  readonly lengthBytes: number;
  readonly what: string;
}

export interface LogReport {
  readonly segments: readonly { file: string; sizeBytes: number; batches: number }[];
  readonly batches: number;
  readonly factsBytes: number;
  /** Where the log ends, with all that is damaged. */
  readonly end: Position;
  /** Bytes at the end that cannot be shown to have been confirmed: a start cuts them off. */
  readonly tornBytes: number;
  readonly damages: readonly Damage[];
}

export interface InspectOptions {
  /** Gets every intact batch, in order. */
  readonly onBatch?: (batch: Batch) => Promise<void> | void;
  /** After each segment. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

interface Part {
  readonly file: string;
  readonly base: Position;
  readonly sizeBytes: number;
  readonly header: SegmentHeader | "broken";
}

/** Reads a log that may be damaged, changes nothing, and reports every problem. */
export async function inspect(
  disk: Disk,
  dir: string,
  options: InspectOptions = {},
): Promise<LogReport> {
  return new Inspection(disk, dir, options).run();
}

class Inspection {
  readonly #disk: Disk;
  readonly #dir: string;
  readonly #options: InspectOptions;
  readonly #damages: Damage[] = [];
  readonly #segments: { file: string; sizeBytes: number; batches: number }[] = [];
  #batches = 0;
  #factsBytes = 0;
  #tornBytes = 0;
  /** The last orderly end: before it nothing can be torn. */
  #sealed: Sealed | undefined = undefined;
  /** Segments whose files hold something else. */
  readonly #replaced: { readonly base: Position; readonly sizeBytes: number }[] = [];
  /** Checksum of the last frame, when nothing is wrong with it. */
  #link: number | undefined = undefined;

  constructor(disk: Disk, dir: string, options: InspectOptions) {
    this.#disk = disk;
    this.#dir = dir;
    this.#options = options;
  }

  async run(): Promise<LogReport> {
    const names = (await this.#disk.list(this.#dir)).sort();
    const sealed = findSeal(names);
    this.#sealed = sealed;
    const parts = this.#dropCopies(await this.#readParts(names));
    const trimmed = await this.#findTrimmed(parts);
    const kept = parts.filter(({ base }) => base >= trimmed);
    const totalBytes = kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let end = trimmed;
    let doneBytes = 0;
    for (const [index, part] of kept.entries()) {
      const { base, sizeBytes } = part;
      if (base > end) this.#tell(segmentName(end), 0, base - end, "the segment is missing");
      const next = kept[index + 1]?.base;
      const before = this.#batches;
      const endOffset = await this.#withFile(part, (file) => this.#walk(file, part, next));
      end = base + endOffset;
      this.#segments.push({ file: part.file, sizeBytes, batches: this.#batches - before });
      doneBytes += sizeBytes;
      this.#options.onProgress?.(doneBytes, totalBytes);
    }
    // A gap before a segment tells itself; behind the newest there is nothing but the name.
    const lost = this.#replaced.filter(({ base }) => base >= end);
    for (const { base, sizeBytes } of lost) {
      this.#tell(segmentName(base), 0, sizeBytes, "the newest segment is missing");
    }
    if (sealed !== undefined && end < sealed.end && lost.length === 0) {
      const base = kept.length === 0 ? sealed.base : end;
      this.#tell(segmentName(base), 0, sealed.end - base, "the newest segment is missing");
    }
    return {
      segments: this.#segments,
      batches: this.#batches,
      factsBytes: this.#factsBytes,
      end: Math.max(end, sealed?.end ?? 0),
      tornBytes: this.#tornBytes,
      damages: this.#damages,
    };
  }

  #tell(file: string, offset: number, lengthBytes: number, what: string): void {
    this.#damages.push({ file: join(this.#dir, file), offset, lengthBytes, what });
  }

  /** The segments in the order of what is in them, whatever their names say. */
  async #readParts(names: readonly string[]): Promise<Part[]> {
    const parts: Part[] = [];
    for (const file of names) {
      const named = baseOf(file);
      if (named === undefined) continue;
      parts.push(
        await this.#withFile({ file }, async (opened) => {
          const sizeBytes = await opened.sizeBytes();
          const header = await new SegmentReader(opened, named, 0).header();
          if (header === "version") throw newerVersion(join(this.#dir, file), 0);
          const base = header === "broken" ? named : header.base;
          if (base !== named) {
            this.#tell(file, 0, 0, `this is the segment ${segmentName(base)} under a wrong name`);
            this.#replaced.push({ base: named, sizeBytes });
          }
          return { file, base, sizeBytes, header };
        }),
      );
    }
    return parts.sort((a, b) => a.base - b.base);
  }

  /** Of several files with the same segment the one with the right name counts. */
  #dropCopies(parts: readonly Part[]): Part[] {
    const chosen = new Map<Position, Part>();
    for (const part of parts) {
      const other = chosen.get(part.base);
      const isBetter = other === undefined || part.file === segmentName(part.base);
      if (other !== undefined) {
        const copy = isBetter ? other.file : part.file;
        this.#tell(copy, 0, 0, `a second copy of the segment ${segmentName(part.base)}`);
      }
      if (isBetter) chosen.set(part.base, part);
    }
    return [...chosen.values()];
  }

  /** Where the log begins: only the newest segment may know more about it than the headers. */
  async #findTrimmed(parts: readonly Part[]): Promise<Position> {
    const begun = parts.filter(({ header }) => header !== "broken");
    const [newest, oldest] = [begun.at(-1), parts[0]];
    if (newest === undefined || newest.header === "broken") return oldest?.base ?? 0;
    let trimmed = newest.header.trimmed;
    await this.#withFile(newest, async (file) => {
      const reader = new SegmentReader(file, newest.base, newest.sizeBytes);
      do {
        for (let frame = reader.take(); frame !== undefined; frame = reader.take()) {
          if (frame.kind !== TRIM) continue;
          trimmed = Math.max(trimmed, getPosition(viewOf(frame.body), 0));
        }
      } while (await reader.fill());
    });
    return trimmed;
  }

  /** Answers the offset at which the segment ends, or should end. */
  async #walk(file: DiskFile, part: Part, next: Position | undefined): Promise<number> {
    const { base, header } = part;
    const sealedBytes = this.#sealed?.base === base ? this.#sealed.end - base : 0;
    const wanted = next === undefined ? Math.max(part.sizeBytes, sealedBytes) : next - base;
    const sizeBytes = Math.min(part.sizeBytes, wanted);
    const place = { file, base, sizeBytes };
    if (part.sizeBytes > wanted) this.#tell(part.file, wanted, 0, "bytes behind its end");
    if (header === "broken") {
      if (next === undefined && !(await this.#wasSynced(place, 0))) return this.#tear(part, 0);
      this.#tell(part.file, 0, Math.min(HEADER_BYTES, wanted), "the header is broken");
    } else if (this.#link !== undefined && header.link !== this.#link) {
      this.#tell(part.file, 0, 0, "the segment does not follow the one before it");
    }
    const reader = new SegmentReader(file, base, sizeBytes);
    reader.link = header === "broken" ? undefined : header.link;
    await this.#readBatches(reader);
    while (reader.flaw !== undefined) {
      const { offset, flaw } = reader;
      const path = join(this.#dir, part.file);
      if (flaw === "version") throw newerVersion(path, offset);
      const isTorn = next === undefined && !(await this.#wasSynced(place, offset));
      if (isTorn) return this.#tear(part, offset);
      const resumed = await this.#resume(reader, place);
      this.#tell(part.file, offset, (resumed ?? wanted) - offset, describeFlaw(flaw));
      if (resumed === undefined) return wanted;
      await this.#readBatches(reader);
    }
    this.#link = reader.link;
    const missing = wanted - reader.offset;
    if (missing > 0) this.#tell(part.file, reader.offset, missing, "the segment ends too early");
    return wanted;
  }

  async #wasSynced(place: Place, offset: number): Promise<boolean> {
    return place.base + offset < (this.#sealed?.end ?? 0) || wasSynced(place, offset);
  }

  #tear({ sizeBytes }: Part, offset: number): number {
    this.#tornBytes = sizeBytes - offset;
    return offset;
  }

  /** Moves the reader to the next frame that is intact; answers its offset. */
  async #resume(
    reader: SegmentReader,
    place: { file: DiskFile; base: Position; sizeBytes: number },
  ): Promise<number | undefined> {
    // A frame that does not follow the one before it may be intact by itself.
    let from: number = reader.flaw === "link" ? reader.offset : reader.offset + 1;
    for (;;) {
      const found = await findHead(place, from, () => true);
      if (found === undefined) {
        this.#link = undefined;
        return undefined;
      }
      reader.resumeAt(found);
      await reader.fill();
      if (await isNextIntact(reader)) return found;
      from = found + 1;
    }
  }

  async #readBatches(reader: SegmentReader): Promise<void> {
    do {
      for (let frame = reader.take(); frame !== undefined; frame = reader.take()) {
        if (frame.kind !== FACTS) continue;
        this.#batches++;
        this.#factsBytes += frame.length;
        await this.#options.onBatch?.({ position: frame.position, facts: frame.body });
      }
    } while (await reader.fill());
  }

  async #withFile<T>({ file }: { file: string }, act: (file: DiskFile) => Promise<T>): Promise<T> {
    const opened = await this.#disk.open(join(this.#dir, file), "read");
    try {
      return await act(opened);
    } finally {
      await opened.close();
    }
  }
}

/** Looks at the next frame and goes back to it. */
async function isNextIntact(reader: SegmentReader): Promise<boolean> {
  const { offset } = reader;
  let frame = reader.take();
  while (frame === undefined && (await reader.fill())) frame = reader.take();
  reader.resumeAt(offset);
  return frame !== undefined;
}
