import { join } from "node:path";
import type { SluiceError } from "@sluice/protocol";
import { type Disk, type DiskFile, writeAll } from "./disk.ts";
import { failed } from "./errors.ts";
import { FACTS, frameBytes, type Kind, putPosition, SEAL, TRIM, viewOf } from "./frame.ts";
import { Group } from "./group.ts";
import type { Position } from "./log.ts";
import type { Tail } from "./recover.ts";
import type { Sealed } from "./seal-note.ts";
import { HEADER_BYTES, segmentName } from "./segment.ts";

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

/** One in flight and one that gathers: with fewer, every second group would grow from nothing. */
const SPARES_MAX = 2;

const NO_FACTS = new Uint8Array(0);

/**
 * The one writer of the log. A frame gets its place the moment it is appended; groups of frames
 * then go to disk one after the other:
 *
 *   gathering   the last group of the queue takes the frames of all appends that come
 *   in flight   one group at most: (new segment,) write, sync, (directory sync,) confirm
 *   failed      after the first error: whoever waits is refused, and nothing is written any more
 *
 * A group is started one microtask after its first frame, so appends of the same moment share it.
 * A group's write begins when the group before is synced; so each frame can say that everything
 * before its group was. With the durability `os` only some groups are synced: those with a note
 * of the log itself, and the last one of a segment.
 */
export class Writer {
  readonly failed: Promise<SluiceError>;
  readonly #options: WriterOptions;
  #segmentBytes: number;
  readonly #queue: Group[] = [];
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
  /** Memory of groups that are done: one group is in flight while the next one gathers. */
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

  /** Throws when the log has failed: nobody changes the disk any more. */
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

  /** Ends the writing for a reason that lies outside; answers the error that everybody gets. */
  stop(error: SluiceError): SluiceError {
    if (this.#error === undefined) this.#fail(error, undefined);
    return this.#error ?? error;
  }

  #append(kind: Kind, body: Uint8Array): Promise<Position> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    const bytes = frameBytes(body.length);
    const group = this.#groupFor(kind, bytes);
    const position = this.#end;
    const synced =
      this.#options.durability === "fsync" ? group.start : Math.max(this.#synced, group.base);
    const unsynced = position - synced;
    this.#link = group.put({ kind, position, unsynced, link: this.#link }, body);
    this.#end += bytes;
    this.#isSealed = kind === SEAL;
    if (kind !== FACTS) group.mustSync = true;
    const durable = group.wait(position);
    this.#start();
    return durable;
  }

  /** The group that takes the next frame. Notes of the log itself never begin a second segment. */
  #groupFor(kind: Kind, bytes: number): Group {
    const sizeBytes = this.#end - (this.#base ?? this.#end);
    const isFull = sizeBytes > HEADER_BYTES && sizeBytes + bytes > this.#segmentBytes;
    if (this.#base === undefined || (isFull && kind === FACTS)) return this.#beginSegment();
    const last = this.#queue.at(-1);
    if (last?.hasRoomFor(bytes)) return last;
    return this.#enqueue(new Group(this.#end, this.#base, undefined, this.#spares.pop()));
  }

  #beginSegment(): Group {
    const base = this.#end;
    const header = { base, trimmed: this.#trimmed, link: this.#link };
    this.#base = base;
    this.#end += HEADER_BYTES;
    return this.#enqueue(new Group(base, base, header, this.#spares.pop()));
  }

  #enqueue(group: Group): Group {
    this.#queue.push(group);
    return group;
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => this.#run());
  }

  async #run(): Promise<void> {
    let group = this.#queue.shift();
    try {
      for (; group !== undefined; group = this.#queue.shift()) {
        await this.#commit(group);
        this.#confirmed = group.start + group.lengthBytes;
        group.confirm();
        this.#keepSpare(group.spare);
      }
    } catch (error) {
      this.#fail(failed("writing the log", this.#options.dir, error), group);
    }
    this.#isRunning = false;
  }

  /** Looks before each step whether a trim has failed meanwhile: then nothing more is written. */
  async #commit(group: Group): Promise<void> {
    const { checkHeld, disk, dir, durability, onSegment } = this.#options;
    checkHeld();
    const file = await this.#fileFor(group);
    this.check();
    await writeAll(file, group.bytes, group.start - group.base);
    this.check();
    if (durability === "fsync" || group.mustSync) {
      await file.sync();
      this.#synced = group.start + group.lengthBytes;
    }
    this.check();
    if (group.beginsSegment) await disk.syncDir(dir);
    this.check();
    // Whoever took the log over has not seen this group: it must not be confirmed.
    checkHeld();
    if (group.beginsSegment) onSegment(group.base);
  }

  async #fileFor({ base, start, beginsSegment }: Group): Promise<DiskFile> {
    const path = join(this.#options.dir, segmentName(base));
    if (!beginsSegment) {
      this.#file ??= await this.#options.disk.open(path, "write");
      return this.#file;
    }
    // Damage is told from a torn tail only in the newest segment: the one before it is synced.
    if (this.#file !== undefined && this.#synced < start) await this.#file.sync();
    await this.#file?.close();
    this.#file = undefined;
    this.#synced = start;
    this.check();
    this.#file = await this.#options.disk.open(path, "create");
    return this.#file;
  }

  #keepSpare(spare: Buffer | undefined): void {
    if (spare !== undefined && this.#spares.length < SPARES_MAX) this.#spares.push(spare);
  }

  #fail(error: SluiceError, inFlight: Group | undefined): void {
    this.#error ??= error;
    inFlight?.refuse(error);
    for (const group of this.#queue.splice(0)) group.refuse(error);
    this.#tellFailed(error);
  }
}
