import type { Engine, Fact } from "@sluice/engine";
import type { Log, Position } from "@sluice/log";
import type { Chunk, Chunks } from "./chunks.ts";
import { bodyAt, skipBody } from "./codec/body.ts";
import { ByteReader } from "./codec/byte-reader.ts";
import { decodeFact } from "./codec/facts.ts";
import type { Committed, Journal } from "./journal.ts";

/** Facts that a pass reads in one step, and jobs that it rewrites: a millisecond or two. */
const READ_PER_STEP = 2000;
const MOVED_PER_STEP = 500;

/** What a pass may write ahead of the log: it must not keep others waiting for their sync. */
const UNSYNCED_BYTES = 8 * 1024 * 1024;

/** Marks are close, so that a file of the log can be forgotten soon after the next one began. */
const MARKS_PER_SEGMENT = 16;

/** Every suffix of the log may be this many times as large as what lives in it, and a part more. */
const GARBAGE_FACTOR = 2;

/** Shares of a segment that a suffix may owe: beyond the first a pass begins, then adds wait. */
const BEGIN_SHARE = 1 / 2;
const WAIT_SHARE = 5 / 8;

/** The debt is counted again after so small a share of a segment was written or has ended. */
const COUNT_SHARE = 1 / 64;

/** A pass goes through this many times what its checkpoint will tell. */
const PASS_PER_CHECKPOINT = 4;

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
 * Keeps the log small: writes the jobs that still live in its oldest file again at its end, and
 * forgets the file.
 *
 * **What holds.** Let D be the log's bytes, L those that live in it, S a segment (files are an
 * eighth of it). D <= 2L + S, unless L falls faster than the log can be cleaned.
 *
 * That is not kept by looking at D alone: beside jobs that stand for long, D says that all is well
 * until the garbage behind them has to go, and then all of them have to be moved at once. What is
 * kept is the same of every suffix X of the log that begins with a file, the first one left out:
 *
 *     owed(X) = |X| - 2 live(X)  <=  5/8 S
 *
 * A byte that is added and lives makes owed(X) smaller by one, its end makes it larger by two: one
 * byte of garbage, one more owed. A byte that is moved from the oldest file to the end makes it
 * smaller by one, for every X. So a byte moved for each byte of garbage keeps the debt where it is,
 * whatever the log looks like: the work is in proportion to what is added, and never more than
 * that. When the oldest file is empty of life, L = live(X) for the X behind it, and D, which is
 * that X and the file, is at most 2L + 5/8 S + 1/8 S. The quarter that is left is for the commit on
 * its way (of what ends in it, twice the size), a mark, and that chunks are counted where they
 * begin.
 *
 * A pass begins when the debt is above 1/2 S. Above 5/8 S adds wait, and each byte that is moved
 * lets half a byte in: the debt falls, and adds go on at the speed of the cleaner. They never wait
 * but for a pass that runs. When much of the log ends at once (a purge, a drained backlog) D is
 * above the bound until the cleaner has come through what is left; then too it only falls.
 *
 * Each pass writes all state beside the jobs (stores, levels of gates, groups) again. That state
 * counts as live by the size of its last copy, a pass goes through four times as much, and there
 * may be one more copy while a pass ends.
 *
 * **A pass.** A replay begins at a mark: a copy of the configuration, so that the facts behind it
 * have their queues. There are sixteen marks to a segment. A pass moves the jobs before the first
 * mark that is behind the oldest file, including those written in one commit with the mark. Then it
 * writes all the rest of the state again (a checkpoint), and only then trims the log up to the
 * commit of that mark. A crash at any point leaves a log with the same content.
 */
export class Cleaner {
  readonly #parts: CleanerParts;
  readonly #marks: Committed[];
  #markedBytes = 0;
  #markBytes = 0;
  #checkpointBytes = 0;
  /** Bytes that the pass has written since it last waited for the log. */
  #ownBytes = 0;
  /** What the suffix owes that owes most, and what was written and lived when it was counted. */
  #owedBytes = 0;
  #countedBytes = 0;
  #countedLive = 0;
  /** Up to where the journal may be written while adds wait. */
  #allowedBytes = 0;
  #progress = Promise.withResolvers<void>();
  #isRunning = false;
  #isStopped = false;

  constructor(parts: CleanerParts, marks: readonly Position[]) {
    this.#parts = parts;
    this.#marks = marks.map((position) => ({ first: position, last: position }));
  }

  /** A new log begins with a mark, and so does what is written behind a restored one. */
  begin(isRestored = false): void {
    if (isRestored || this.#marks.length === 0) this.#mark();
  }

  /** Adds have to wait: the log holds too much that is dead, and a pass is at work. */
  get isBehind(): boolean {
    if (!this.#isRunning || this.#isStopped) return false;
    const { journal, segmentBytes } = this.#parts;
    this.#count();
    if (this.#owedBytes <= WAIT_SHARE * segmentBytes) {
      this.#allowedBytes = 0;
      return false;
    }
    if (this.#allowedBytes === 0) this.#allowedBytes = journal.writtenBytes;
    return journal.writtenBytes >= this.#allowedBytes;
  }

  /** Resolves when a pass has come further. */
  progress(): Promise<void> {
    return this.#progress.promise;
  }

  /** Looks whether there is something to do. Called when a commit is durable. */
  look(): void {
    const { journal, segmentBytes } = this.#parts;
    if (this.#isStopped) return;
    // A large configuration is written less often: a mark must stay a small part of the log.
    const everyBytes = Math.max(segmentBytes / MARKS_PER_SEGMENT, 8 * this.#markBytes);
    if (journal.writtenBytes - this.#markedBytes > everyBytes) this.#mark();
    const target = this.#isRunning ? undefined : this.#target();
    if (target === undefined) return;
    this.#isRunning = true;
    this.#allowedBytes = 0;
    this.#clean(target)
      .catch(this.#parts.onError)
      .finally(() => {
        this.#isRunning = false;
        this.#tellProgress();
        // What came meanwhile may need another pass, and there may be no other call to start it.
        this.look();
      });
  }

  stop(): void {
    this.#isStopped = true;
    this.#tellProgress();
  }

  #tellProgress(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }

  /** Counts the debt, if it can have become another since. */
  #count(): void {
    const { chunks, journal, log, segmentBytes } = this.#parts;
    const written = Math.abs(journal.writtenBytes - this.#countedBytes);
    const ended = Math.abs(chunks.liveBytes - this.#countedLive);
    if (Math.max(written, ended) < COUNT_SHARE * segmentBytes) return;
    this.#countedBytes = journal.writtenBytes;
    this.#countedLive = chunks.liveBytes;
    const spans = log.spans();
    const lives = chunks.liveIn(spans);
    let sizeBytes = journal.unsyncedBytes;
    let liveBytes = this.#checkpointBytes + lives[spans.length]!;
    this.#owedBytes = sizeBytes - GARBAGE_FACTOR * liveBytes;
    for (let i = spans.length - 1; i > 0; i--) {
      sizeBytes += spans[i]!.sizeBytes;
      liveBytes += lives[i]!;
      this.#owedBytes = Math.max(this.#owedBytes, sizeBytes - GARBAGE_FACTOR * liveBytes);
    }
  }

  #mark(): void {
    const { engine, journal } = this.#parts;
    const before = journal.writtenBytes;
    for (const fact of engine.checkpoint().next().value ?? []) journal.write(fact);
    this.#markedBytes = journal.writtenBytes;
    this.#markBytes = this.#markedBytes - before;
    journal.whenDurable((at) => this.#marks.push(at));
    this.#parts.wake();
  }

  /** The mark up to which the log should be forgotten; undefined: it is small enough. */
  #target(): Committed | undefined {
    const { chunks, log, segmentBytes } = this.#parts;
    this.#count();
    if (this.#owedBytes <= BEGIN_SHARE * segmentBytes) return undefined;
    let restBytes = PASS_PER_CHECKPOINT * this.#checkpointBytes;
    let target: Committed | undefined;
    const spans = log.spans();
    const lives = chunks.liveIn(spans);
    for (const [index, { end, sizeBytes }] of spans.entries()) {
      // Beyond what has to go, whatever is nearly dead goes along: it will never be cheaper.
      if (target !== undefined && restBytes <= 0 && lives[index]! > sizeBytes / 8) break;
      restBytes -= sizeBytes;
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
    this.#countedBytes = Number.NEGATIVE_INFINITY;
    while (this.#marks[0] !== undefined && this.#marks[0].first < first) this.#marks.shift();
  }

  /** Writes the state beside the jobs again, a step at a time. */
  async #checkpoint(): Promise<void> {
    const { engine, journal } = this.#parts;
    let toldBytes = 0;
    for (const step of engine.checkpoint()) {
      const before = journal.writtenBytes;
      for (const fact of step) journal.write(fact);
      toldBytes += journal.writtenBytes - before;
      this.#ownBytes += journal.writtenBytes - before;
      await this.#turn();
      if (this.#isStopped) return;
    }
    this.#checkpointBytes = toldBytes;
    this.#parts.wake();
    await journal.durable();
  }

  /** Writes the jobs again whose records are in a chunk, up to a position. */
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
    let work = 0;
    while (!reader.isAtEnd && !this.#isStopped) {
      if (work >= 1) work = await this.#turn();
      work += 1 / READ_PER_STEP;
      const fact = decodeFact(reader, skip);
      const isTold =
        fact.fact === "job" || fact.fact === "moved"
          ? this.#tellAgain(fact, chunk, from + at, bytes, at)
          : this.#tellStep(fact, chunk, from + at, bytes, at);
      if (isTold) work += 1 / MOVED_PER_STEP;
    }
  }

  /** False when the job is gone, or its record is elsewhere by now. */
  #tellAgain(
    fact: Extract<Fact, { fact: "job" | "moved" }>,
    chunk: Chunk,
    offset: number,
    bytes: Uint8Array,
    at: number,
  ): boolean {
    const { chunks, engine, now } = this.#parts;
    const { id } = fact.job;
    const name = chunks.nameOf(chunk, offset);
    const job = engine.body(id) === name ? engine.queries.record(id) : undefined;
    if (job === undefined) return false;
    job.body = bodyAt(bytes, at);
    this.#write({ at: now(), fact: "moved", job });
    chunks.release(name, job.sizeBytes);
    return true;
  }

  /** The same for results of steps and signals, which are kept apart from their jobs. */
  #tellStep(fact: Fact, chunk: Chunk, offset: number, bytes: Uint8Array, at: number): boolean {
    if (fact.fact !== "signalled" && !(fact.fact === "step" && "body" in fact)) return false;
    const { chunks, engine, now } = this.#parts;
    const name = chunks.nameOf(chunk, offset);
    if (engine.steps.body(fact) !== name) return false;
    this.#write({ ...fact, at: now(), body: bodyAt(bytes, at) });
    chunks.release(name, fact.sizeBytes);
    return true;
  }

  #write(fact: Fact): void {
    const { journal } = this.#parts;
    const before = journal.writtenBytes;
    journal.write(fact);
    const movedBytes = journal.writtenBytes - before;
    this.#ownBytes += movedBytes;
    if (this.#allowedBytes > 0) this.#allowedBytes += movedBytes + movedBytes / 2;
  }

  /** Lets others in, and the log catch up with what the pass itself has written. Answers 0. */
  async #turn(): Promise<0> {
    const { journal, wake } = this.#parts;
    wake();
    this.#tellProgress();
    if (this.#ownBytes < UNSYNCED_BYTES) await new Promise(setImmediate);
    else {
      this.#ownBytes = 0;
      await journal.durable();
    }
    return 0;
  }
}
