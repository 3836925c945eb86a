import type { Engine, Fact } from "@sluice/engine";
import type { Log, Position } from "@sluice/log";
import { bodyAt, skipBody } from "./bodies.ts";
import type { Chunk, Chunks } from "./chunks.ts";
import { ByteReader } from "./codec/byte-reader.ts";
import { decodeFact } from "./codec/facts.ts";
import type { Committed, Journal } from "./journal.ts";

/** Jobs that are told again in one go: a millisecond's work. */
const MOVED_PER_STEP = 500;

/** What a pass may write ahead of the log: it must not keep others waiting for their sync. */
const UNSYNCED_BYTES = 8 * 1024 * 1024;

/** Marks are close, so that a file of the log can be forgotten soon after the next one began. */
const MARKS_PER_SEGMENT = 16;

/** The log may be this many times as large as what lives in it, and a segment more. */
const GARBAGE_FACTOR = 2;

export interface CleanerParts {
  engine: Engine;
  journal: Journal;
  chunks: Chunks;
  log: Log;
  /** What the log forgets at once, and what it may hold beyond its share of garbage. */
  segmentBytes: number;
  now: () => number;
  wake: () => void;
  onError: (error: unknown) => void;
}

/**
 * Keeps the log small. When it holds more garbage than live data, the jobs that still live in its
 * oldest part are told again at its end, and the oldest part is forgotten.
 *
 * A replay begins at a mark: the configuration told again, so that the facts behind it have their
 * queues. There are sixteen to a segment. A pass moves the jobs before the first mark that is
 * behind the oldest segment, those told in one commit with the mark included, tells all the rest
 * of the state again (a checkpoint), and only then trims the log up to the commit of that mark. A
 * crash at any point leaves a log that says the same.
 */
export class Cleaner {
  readonly #parts: CleanerParts;
  readonly #marks: Committed[];
  #markedBytes = 0;
  #markBytes = 0;
  /** Bytes that the pass has written since it last waited for the log. */
  #ownBytes = 0;
  #isRunning = false;
  #isStopped = false;

  constructor(parts: CleanerParts, marks: readonly Position[]) {
    this.#parts = parts;
    this.#marks = marks.map((position) => ({ first: position, last: position }));
  }

  /** A new log begins with a mark. */
  begin(): void {
    if (this.#marks.length === 0) this.#mark();
  }

  /** Looks whether there is something to do. Called when a commit is durable. */
  look(): void {
    const { journal, segmentBytes } = this.#parts;
    if (this.#isStopped) return;
    // A large configuration is told less often: a mark must stay a small part of the log.
    const everyBytes = Math.max(segmentBytes / MARKS_PER_SEGMENT, 8 * this.#markBytes);
    if (journal.writtenBytes - this.#markedBytes > everyBytes) this.#mark();
    const target = this.#isRunning ? undefined : this.#target();
    if (target === undefined) return;
    this.#isRunning = true;
    const before = this.#parts.log.sizeBytes;
    this.#clean(target)
      .catch(this.#parts.onError)
      .finally(() => {
        this.#isRunning = false;
        // What came meanwhile may ask for another pass, and nobody else may call.
        if (this.#parts.log.sizeBytes < before) this.look();
      });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #mark(): void {
    const { engine, journal } = this.#parts;
    const before = journal.writtenBytes;
    for (const fact of engine.checkpoint().next().value ?? []) journal.write(fact, engine);
    this.#markedBytes = journal.writtenBytes;
    this.#markBytes = this.#markedBytes - before;
    journal.whenDurable((at) => this.#marks.push(at));
    this.#parts.wake();
  }

  /** The mark up to which the log should be forgotten; undefined: it is small enough. */
  #target(): Committed | undefined {
    const { chunks, log, segmentBytes } = this.#parts;
    // A quarter of the segment that it may be above: the rest is for what comes during a pass.
    let excess = log.sizeBytes - GARBAGE_FACTOR * chunks.liveBytes - segmentBytes / 4;
    let target: Committed | undefined;
    for (const { first, end, sizeBytes } of excess > 0 ? log.spans() : []) {
      // Beyond what has to go, whatever is nearly dead goes along: it will never be cheaper.
      if (excess <= 0 && chunks.liveIn(first, end) > sizeBytes / 8) break;
      excess -= sizeBytes;
      target = this.#marks.find((mark) => mark.first >= end) ?? target;
    }
    return target;
  }

  async #clean({ first, last }: Committed): Promise<void> {
    const { chunks, log } = this.#parts;
    for (const chunk of [...chunks.upTo(last)]) {
      if (this.#isStopped) return;
      if (chunk.live > 0) await this.#move(chunk, last);
    }
    await this.#checkpoint();
    if (this.#isStopped) return;
    await log.trim(first);
    chunks.forget(first);
    while (this.#marks[0] !== undefined && this.#marks[0].first < first) this.#marks.shift();
  }

  /** Tells the state beside the jobs, a step at a time. */
  async #checkpoint(): Promise<void> {
    const { engine, journal } = this.#parts;
    for (const step of engine.checkpoint()) {
      for (const fact of step) journal.write(fact, engine);
      await this.#turn();
      if (this.#isStopped) return;
    }
    this.#parts.wake();
    await journal.durable();
  }

  /** Tells the jobs again whose records are in a chunk, up to a position. */
  async #move(chunk: Chunk, last: Position): Promise<void> {
    for (const { from, to, position, offset } of [...chunk.parts]) {
      if (position > last) return;
      const bytes =
        chunk.bytes?.subarray(from, to) ??
        (await this.#parts.log.read(position, offset, to - from));
      await this.#moveBatch(chunk, from, bytes);
      if (this.#isStopped) return;
    }
  }

  async #moveBatch(chunk: Chunk, from: number, bytes: Uint8Array): Promise<void> {
    const reader = new ByteReader(bytes);
    let at = 0;
    const skip = (body: ByteReader): void => {
      at = body.at;
      skipBody(body);
    };
    for (let moved = 0; !reader.isAtEnd; ) {
      const fact = decodeFact(reader, skip);
      if (fact.fact !== "job" && fact.fact !== "moved") continue;
      if (!this.#tellAgain(fact, chunk, from + at, bytes, at)) continue;
      if (++moved % MOVED_PER_STEP === 0) await this.#turn();
      if (this.#isStopped) return;
    }
  }

  /** False when the job is gone, or its record stands elsewhere by now. */
  #tellAgain(
    fact: Extract<Fact, { fact: "job" | "moved" }>,
    chunk: Chunk,
    offset: number,
    bytes: Uint8Array,
    at: number,
  ): boolean {
    const { chunks, engine, journal, now } = this.#parts;
    const { id } = fact.job;
    const name = chunks.nameOf(chunk, offset);
    const job = engine.body(id) === name ? engine.record(id) : undefined;
    if (job === undefined) return false;
    job.body = bodyAt(bytes, at);
    journal.write({ at: now(), fact: "moved", job }, engine);
    this.#ownBytes += job.sizeBytes;
    chunks.release(name, job.sizeBytes);
    return true;
  }

  /** Lets others in, and the log catch up with what the pass itself has written. */
  async #turn(): Promise<void> {
    const { journal, wake } = this.#parts;
    wake();
    if (this.#ownBytes < UNSYNCED_BYTES) return void (await new Promise(setImmediate));
    this.#ownBytes = 0;
    await journal.durable();
  }
}
