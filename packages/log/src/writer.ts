import { join } from "node:path";
import type { SluiceError } from "@sluice/protocol";
import { type Disk, type DiskFile, writeAll } from "./disk.ts";
import { failed } from "./errors.ts";
import {
  FACTS,
  frameBytes,
  type Kind,
  putPosition,
  SEAL,
  TRIM,
  viewOf,
  writeFrame,
} from "./frame.ts";
import { SPARE_BYTES_MAX, SPARE_BYTES_MIN } from "./limits.ts";
import type { Position } from "./log.ts";
import type { Tail } from "./recover.ts";
import type { Sealed } from "./seal-note.ts";
import { HEADER_BYTES, segmentName, writeHeader } from "./segment.ts";

export type Durability = "fsync" | "os";

export interface WriterOptions {
  readonly disk: Disk;
  readonly dir: string;
  readonly segmentBytes: number;
  readonly durability: Durability;
  readonly tail: Tail;
  /** Throws when another process has taken the log over. */
  readonly checkHeld: () => void;
  /** A new segment has its first durable frame. */
  readonly onSegment: (base: Position) => void;
}

/** One in flight and one that waits: the broker has one commit on its way. */
const SPARES_MAX = 2;

const NO_FACTS = new Uint8Array(0);

/** A frame that has its place and is on its way to the disk. */
interface Pending {
  /** The frame, behind the header of a new segment when it begins one. */
  readonly bytes: Buffer;
  readonly memory: Buffer;
  readonly position: Position;
  /** Where its bytes go, and the base of the segment that they go to. */
  readonly start: Position;
  readonly base: Position;
  readonly beginsSegment: boolean;
  /** Synced also when appends are not: what it says must be durable before what follows from it. */
  readonly mustSync: boolean;
  readonly done: PromiseWithResolvers<Position>;
}

/**
 * The one writer of the log. A frame gets its place the moment it is appended; frames then go to
 * disk one after the other:
 *
 *   waiting     its bytes are copied, the frames before it are on their way
 *   in flight   one frame at most: (new segment,) write, sync, (directory sync,) confirm
 *   failed      after the first error: every append is refused, and nothing is written any more
 *
 * It does not put appends together: the broker's journal does that, and has one append on its way
 * while it gathers the next. A frame's write begins when the frame before is synced; so each frame
 * can say that everything before it was. With the durability `os` only some frames are synced:
 * notes of the log itself, and the last one of a segment.
 */
export class Writer {
  readonly failed: Promise<SluiceError>;
  readonly #options: WriterOptions;
  #segmentBytes: number;
  readonly #queue: Pending[] = [];
  #tellFailed!: (error: SluiceError) => void;
  #error: SluiceError | undefined = undefined;
  #isRunning = false;
  /** Where the next frame goes, counting all that were appended. */
  #end: Position;
  #link: number;
  #base: Position | undefined;
  #trimmed: Position;
  #isSealed: boolean;
  /** Everything before is synced. */
  #synced: Position;
  #confirmed: Position;
  #file: DiskFile | undefined = undefined;
  /** Memory of frames that are done. */
  readonly #spares: Buffer[] = [];

  constructor(options: WriterOptions) {
    const { tail } = options;
    this.#options = options;
    this.#segmentBytes = options.segmentBytes;
    this.#end = tail.end;
    this.#link = tail.link;
    this.#base = tail.base;
    this.#trimmed = tail.trimmed;
    this.#isSealed = tail.isSealed;
    this.#synced = tail.end;
    this.#confirmed = tail.end;
    this.failed = new Promise((resolve) => {
      this.#tellFailed = resolve;
    });
  }

  /** Segments that begin from now on are at most this large. */
  limitSegments(sizeBytes: number): void {
    this.#segmentBytes = Math.min(this.#segmentBytes, sizeBytes);
  }

  /** Where the frames that are confirmed end. */
  get confirmed(): Position {
    return this.#confirmed;
  }

  /** Throws when the log has failed: the disk is not changed any more. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  append(facts: Uint8Array): Promise<Position> {
    return this.#append(FACTS, facts);
  }

  /** Notes that segments before this base may be gone. */
  noteTrim(base: Position): Promise<Position> {
    const body = new Uint8Array(8);
    putPosition(viewOf(body), 0, base);
    this.#trimmed = base;
    return this.#append(TRIM, body);
  }

  /**
   * Writes what waits and, as the last frame, that all before it is whole. Answers where that is;
   * undefined when nothing was ever written, or the log has failed.
   */
  async close(): Promise<Sealed | undefined> {
    try {
      const isBegun = this.#base !== undefined;
      if (isBegun && !this.#isSealed) await this.#append(SEAL, NO_FACTS);
    } catch (error) {
      if (error !== this.#error) throw error;
    } finally {
      await this.#file?.close();
      this.#file = undefined;
    }
    if (this.#base === undefined || this.#error !== undefined) return undefined;
    return { base: this.#base, end: this.#confirmed };
  }

  /** Ends the writing for an outside reason; returns the error that all callers get. */
  stop(error: SluiceError): SluiceError {
    if (this.#error === undefined) this.#fail(error, undefined);
    return this.#error ?? error;
  }

  #append(kind: Kind, body: Uint8Array): Promise<Position> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    const pending = this.#place(kind, body);
    this.#isSealed = kind === SEAL;
    this.#queue.push(pending);
    this.#start();
    return pending.done.promise;
  }

  /** Makes the frame where it belongs. Notes of the log itself never begin a second segment. */
  #place(kind: Kind, body: Uint8Array): Pending {
    const bytes = frameBytes(body.length);
    const start = this.#end;
    const sizeBytes = start - (this.#base ?? start);
    const isFull = sizeBytes > HEADER_BYTES && sizeBytes + bytes > this.#segmentBytes;
    const beginsSegment = this.#base === undefined || (isFull && kind === FACTS);
    const headerBytes = beginsSegment ? HEADER_BYTES : 0;
    const base = beginsSegment ? start : this.#base!;
    const memory = this.#memory(headerBytes + bytes);
    const view = viewOf(memory);
    if (beginsSegment) writeHeader(view, { base, trimmed: this.#trimmed, link: this.#link });
    const position = start + headerBytes;
    const { durability } = this.#options;
    const synced = durability === "fsync" ? start : Math.max(this.#synced, base);
    const fields = { kind, position, unsynced: position - synced, link: this.#link };
    this.#link = writeFrame(memory, view, headerBytes, fields, body);
    this.#base = base;
    this.#end = position + bytes;
    return {
      bytes: memory.subarray(0, headerBytes + bytes),
      memory,
      position,
      start,
      base,
      beginsSegment,
      mustSync: durability === "fsync" || kind !== FACTS,
      done: Promise.withResolvers<Position>(),
    };
  }

  /** Memory for a frame: that of one that is done, if it is large enough. */
  #memory(bytes: number): Buffer {
    const spare = this.#spares.pop();
    if (spare !== undefined && spare.length >= bytes) return spare;
    const rounded = bytes > SPARE_BYTES_MAX ? bytes : 2 ** Math.ceil(Math.log2(bytes));
    return Buffer.allocUnsafeSlow(Math.max(SPARE_BYTES_MIN, rounded));
  }

  /** The write begins at once: what else its caller has to do in this turn is done beside it. */
  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    let next = this.#queue.shift();
    try {
      for (; next !== undefined; next = this.#queue.shift()) {
        await this.#write(next);
        this.#confirmed = next.start + next.bytes.length;
        next.done.resolve(next.position);
        const isSpare = next.memory.length <= SPARE_BYTES_MAX && this.#spares.length < SPARES_MAX;
        if (isSpare) this.#spares.push(next.memory);
      }
    } catch (error) {
      this.#fail(failed("writing the log", this.#options.dir, error), next);
    }
    this.#isRunning = false;
  }

  /** Looks before each step whether a trim has failed meanwhile: then nothing more is written. */
  async #write(frame: Pending): Promise<void> {
    const { checkHeld, disk, dir, onSegment } = this.#options;
    checkHeld();
    const file =
      this.#file !== undefined && !frame.beginsSegment ? this.#file : await this.#fileFor(frame);
    this.check();
    await writeAll(file, frame.bytes, frame.start - frame.base);
    this.check();
    if (frame.mustSync) {
      await file.sync();
      this.#synced = frame.start + frame.bytes.length;
    }
    this.check();
    if (frame.beginsSegment) await disk.syncDir(dir);
    this.check();
    // Another process that took the log over has not seen this frame: it must not be confirmed.
    checkHeld();
    if (frame.beginsSegment) onSegment(frame.base);
  }

  async #fileFor({ base, start, beginsSegment }: Pending): Promise<DiskFile> {
    const path = join(this.#options.dir, segmentName(base));
    if (!beginsSegment) {
      this.#file = await this.#options.disk.open(path, "write");
      return this.#file;
    }
    // Recovery tells damage from a torn tail only in the newest segment, so sync the one before.
    if (this.#file !== undefined && this.#synced < start) await this.#file.sync();
    await this.#file?.close();
    this.#file = undefined;
    this.#synced = start;
    this.check();
    this.#file = await this.#options.disk.open(path, "create");
    return this.#file;
  }

  #fail(error: SluiceError, inFlight: Pending | undefined): void {
    this.#error ??= error;
    inFlight?.done.reject(error);
    for (const { done } of this.#queue.splice(0)) done.reject(error);
    this.#tellFailed(error);
  }
}
