import { join } from "node:path";
import { invalid, SluiceError } from "@sluice/protocol";
import { BlockCache } from "./block-cache.ts";
import { countWhile } from "./count-while.ts";
import { codeOf } from "./disk.ts";
import { failed } from "./errors.ts";
import { SEGMENT_BYTES_MIN } from "./limits.ts";
import { Lock } from "./lock.ts";
import type { Batch, Log, Position, ReplayOptions, Span, TornTail } from "./log.ts";
import { LogStage } from "./log-stage.ts";
import { type FileLogOptions, parseOptions } from "./options.ts";
import { type Recovered, recover, type Segment } from "./recover.ts";
import { checkNoRepair } from "./repair-note.ts";
import { replaySegments } from "./replay.ts";
import { noteSeal } from "./seal-note.ts";
import { HEADER_BYTES, segmentName } from "./segment.ts";
import { SegmentFiles } from "./segment-files.ts";
import { Writer } from "./writer.ts";

type Settings = Required<FileLogOptions>;

/** A log in a directory of segments. See `frame.ts` for the format, `recover.ts` for a start. */
export class FileLog implements Log {
  readonly torn: TornTail | undefined;
  readonly #settings: Settings;
  readonly #lock: Lock;
  readonly #writer: Writer;
  readonly #files: SegmentFiles;
  readonly #cache: BlockCache;
  readonly #stage = new LogStage();
  /** Bases of the segments that hold durable frames, the oldest first. */
  readonly #bases: Position[];
  /** Trims follow one another: each waits for this. */
  #trimming: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined = undefined;

  private constructor(settings: Settings, lock: Lock, { segments, tail, torn }: Recovered) {
    const { disk, dir, segmentBytes, durability, readCacheBytes } = settings;
    this.#settings = settings;
    this.#lock = lock;
    this.torn = torn;
    this.#bases = segments.map(({ base }) => base);
    this.#files = new SegmentFiles(disk, dir);
    this.#cache = new BlockCache((base, act) => this.#files.use(base, act), readCacheBytes);
    this.#writer = new Writer({
      disk,
      dir,
      segmentBytes,
      durability,
      tail,
      checkHeld: () => lock.checkHeld(),
      onSegment: (base) => this.#bases.push(base),
    });
  }

  static open(options: FileLogOptions): Promise<FileLog> {
    return FileLog.openAt(options, 0);
  }

  /** A log whose first position is not 0: what a repair writes, so that no position comes twice. */
  static async openAt(options: FileLogOptions, first: Position): Promise<FileLog> {
    const settings = parseOptions(options);
    const { disk, dir, processes } = settings;
    let lock: Lock | undefined;
    try {
      await disk.makeDir(dir);
      lock = await Lock.take(disk, dir, processes);
      await checkNoRepair(disk, dir);
      const recovered = await recover(disk, dir, first);
      if (recovered.torn !== undefined) settings.onTorn(recovered.torn);
      return new FileLog(settings, lock, recovered);
    } catch (error) {
      await lock?.release().catch(() => {});
      throw openingError(dir, error);
    }
  }

  get sizeBytes(): number {
    return this.#writer.confirmed - (this.#bases[0] ?? this.#writer.confirmed);
  }

  get failed(): Promise<SluiceError> {
    return this.#writer.failed;
  }

  spans(): readonly Span[] {
    return this.#segments().map(({ base, end }) => ({
      first: base + HEADER_BYTES,
      end,
      sizeBytes: end - base,
    }));
  }

  limitSpans(sizeBytes: number): void {
    this.#writer.limitSegments(Math.max(sizeBytes, SEGMENT_BYTES_MIN));
  }

  replay(options: ReplayOptions = {}): AsyncGenerator<Batch, void, undefined> {
    const { disk, dir } = this.#settings;
    this.#stage.beginReplay();
    const segments = this.#segments();
    return replaySegments(disk, dir, segments, options, () => this.#stage.endReplay());
  }

  append(facts: Uint8Array): Promise<Position> {
    const refusal = this.#stage.refusalOf(facts);
    return refusal === undefined ? this.#writer.append(facts) : Promise.reject(refusal);
  }

  read(position: Position, offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    this.#stage.checkReady();
    if (!(position >= (this.#bases[0] ?? this.#writer.confirmed))) {
      throw invalid("position", `a position that is kept: ${this.#bases[0]} or later`, position);
    }
    return this.#cache.find(position, offset, length) ?? this.#load(position, offset, length);
  }

  trim(before: Position): Promise<void> {
    const trimmed = this.#trimming.then(() => this.#trim(before));
    this.#trimming = trimmed.catch(() => {});
    return trimmed;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #segments(): Segment[] {
    return this.#bases.map((base, index) => ({
      base,
      end: this.#bases[index + 1] ?? this.#writer.confirmed,
    }));
  }

  async #load(position: Position, offset: number, length: number): Promise<Uint8Array> {
    // Paged payloads are in old segments, of which there may be hundreds.
    const index = countWhile(this.#bases, (base) => base <= position) - 1;
    const base = this.#bases[index];
    const end = this.#bases[index + 1] ?? this.#writer.confirmed;
    if (base === undefined || position >= end) {
      throw invalid("position", "a position that append returned", position);
    }
    const path = (): string => join(this.#settings.dir, segmentName(base));
    try {
      return await this.#cache.load({ base, end, position, path }, offset, length);
    } catch (error) {
      throw failed("reading the log", path(), error);
    }
  }

  async #trim(before: Position): Promise<void> {
    this.#stage.checkReady();
    this.#writer.check();
    const { disk, dir } = this.#settings;
    const old = this.#segments()
      .slice(0, -1)
      .filter(({ end }) => end <= before);
    const last = old.at(-1);
    if (last === undefined) return;
    // Durable before the first of them is gone: else it would be missed at the next start.
    await this.#writer.noteTrim(last.end);
    this.#bases.splice(0, old.length);
    try {
      for (const { base } of old) {
        this.#writer.check();
        this.#files.drop(base);
        await disk.unlink(join(dir, segmentName(base)));
      }
      this.#writer.check();
      await disk.syncDir(dir);
    } catch (error) {
      throw this.#writer.stop(failed("trimming the log", dir, error));
    }
  }

  async #close(): Promise<void> {
    const { disk, dir } = this.#settings;
    this.#stage.close();
    await this.#trimming;
    try {
      const sealed = await this.#writer.close();
      if (sealed !== undefined) await noteSeal(disk, dir, sealed);
    } catch (error) {
      throw this.#writer.stop(failed("closing the log", dir, error));
    } finally {
      await this.#files.close();
      await this.#lock.release();
    }
  }
}

function openingError(dir: string, error: unknown): unknown {
  const code = codeOf(error);
  if (!(error instanceof SluiceError) && (code === "ENOTDIR" || code === "EEXIST")) {
    return invalid("dir", "a directory, not a file", dir);
  }
  return failed("opening the log", dir, error);
}
