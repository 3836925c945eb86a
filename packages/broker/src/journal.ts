import assert from "node:assert/strict";
import type { Engine, Fact, GoneBodies, SignalledFact, StepFact } from "@sluice/engine";
import type { Log, Position } from "@sluice/log";
import { SluiceError, toSluiceError } from "@sluice/protocol";
import type { Chunk, Chunks } from "./chunks.ts";
import { type Body, hasStepBody, plainHeaders, writeBody } from "./codec/body.ts";
import { ByteWriter } from "./codec/byte-writer.ts";
import { encodeFact, TYPE_LEVELS } from "./codec/facts.ts";
import { APPEND_BYTES_MAX, COMMIT_BYTES_MIN, JOINED_BYTES_MAX } from "./limits.ts";

/** Where a commit is in the log: the positions of its first and of its last part. */
export interface Committed {
  first: Position;
  last: Position;
}

/** A part of a chunk that is on its way into the log. */
interface Written {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
}

/** What is promised once all facts written so far are durable. */
interface Commit {
  bytes: number;
  /** Parts of it that are not yet in the log. */
  parts: number;
  readonly at: Committed;
  readonly done: ((at: Committed) => void)[];
  promise: Promise<void> | undefined;
  resolve: () => void;
  reject: (error: SluiceError) => void;
}

/** What the engine gathers during a call, for the journal to take over after it. */
export interface Told {
  readonly facts: Fact[];
  readonly gone: GoneBodies;
}

/**
 * Facts on their way into the log. What the engine has told in a call is written into the current
 * chunk after it, by `drain`; everything that speaks of what is written drains first, so that no
 * caller can forget it. `flush` hands all that is written to the log as one commit. While a commit
 * is on its way the next one gathers, so that the log syncs as often as the disk can, and each sync
 * carries all that came.
 */
export class Journal {
  readonly #log: Log;
  readonly #chunks: Chunks;
  readonly #engine: Engine;
  readonly #told: Told;
  #isDraining = false;
  readonly #writer = new ByteWriter((needBytes) => this.#more(needBytes));
  #chunk: Chunk | undefined;
  /** Up to where the current chunk was handed to the log. */
  #flushed = 0;
  /** Parts of earlier chunks that are not yet handed to the log. */
  #parts: Written[] = [];
  /** Where the parts of a commit from several chunks are put together. */
  #joined: Uint8Array = Buffer.alloc(0);
  #gathering: Commit = newCommit();
  #commits = 0;
  #inFlight = 0;
  #flushedAt = 0;
  #unsyncedBytes = 0;
  #writtenBytes = 0;
  /** Where the body of the fact being written begins, from the fact's own beginning. */
  #bodyAt = 0;
  /** Bytes that the next commit waits for, at most until the end of this turn. */
  #enoughBytes = 0;
  #failure: SluiceError | undefined;
  readonly #onFailure: OnFailure;
  /** Called when a commit is durable, after its callers were answered. */
  onCommit: () => void = () => {};
  /** Called with each fact of the engine when it is written. */
  onFact: (fact: Fact) => void = () => {};

  constructor(log: Log, chunks: Chunks, engine: Engine, told: Told, onFailure: OnFailure) {
    this.#log = log;
    this.#chunks = chunks;
    this.#engine = engine;
    this.#told = told;
    this.#onFailure = onFailure;
    // Not only a commit may find out: another process may have taken the log.
    void log.failed.then((error) => this.fail(error));
  }

  get failure(): SluiceError | undefined {
    return this.#failure;
  }

  /** Bytes that are written and not yet durable. */
  get unsyncedBytes(): number {
    this.drain();
    return this.#unsyncedBytes;
  }

  /** The next commit has the bytes it waited for: a large add need not wait for other calls. */
  get isDue(): boolean {
    this.drain();
    return (
      this.#inFlight === 0 && this.#enoughBytes > 0 && this.#unsyncedBytes >= this.#enoughBytes
    );
  }

  get isCommitting(): boolean {
    return this.#inFlight > 0;
  }

  /** How long the commit has been on its way that is on its way now. */
  get unsyncedMs(): number {
    return this.#inFlight === 0 ? 0 : performance.now() - this.#flushedAt;
  }

  /** Bytes written by this process. */
  get writtenBytes(): number {
    this.drain();
    return this.#writtenBytes;
  }

  /** The number of the commit that what is written now belongs to. */
  get gathering(): number {
    this.drain();
    return this.#commits;
  }

  /** Writes what the engine has told since, and lets go of the bodies that no job has any more. */
  drain(): void {
    const { facts, gone } = this.#told;
    if (this.#isDraining || (facts.length === 0 && gone.bodies.length === 0)) return;
    this.#isDraining = true;
    let taken = 0;
    try {
      while (taken < facts.length) this.#take(facts[taken++]!);
    } finally {
      if (taken === facts.length) facts.length = 0;
      else facts.splice(0, taken);
      this.#chunks.releaseAll(gone);
      this.#isDraining = false;
    }
  }

  #take(fact: Fact): void {
    if (fact.fact === "job" || fact.fact === "moved") this.#writeJob(fact, fact.job.body);
    else if (hasStepBody(fact)) this.#writeStep(fact, fact.body);
    else this.#write(fact.fact === "replaced" ? { ...fact, body: NO_BODY } : fact);
    this.onFact(fact);
  }

  /** Writes a fact that the engine has not told: one of a checkpoint, or a job that is moved. */
  write(fact: Fact): void {
    this.drain();
    if (fact.fact === "moved") this.#writeJob(fact, this.#engine.body(fact.job.id));
    else if (hasStepBody(fact)) this.#writeStep(fact, this.#engine.steps.body(fact));
    else this.#write(fact);
  }

  /** Writes a job with its body, which is from now on kept here; the engine has its name. */
  #writeJob(fact: Extract<Fact, { fact: "job" | "moved" }>, body: unknown): void {
    const size = this.#write(fact);
    const { id, sizeBytes } = fact.job;
    const offset = this.#writer.start + this.#bodyAt;
    const name = this.#chunks.bind(this.#chunk!, offset, sizeBytes, size);
    // The job may have ended since, or have another body, which a later fact brings.
    if (!this.#engine.setBody(id, body, name)) this.#chunks.release(name, sizeBytes);
  }

  /** The same for the result of a step, or the value of a signal. */
  #writeStep(fact: StepFact | SignalledFact, body: unknown): void {
    const size = this.#write(fact as Fact);
    const offset = this.#writer.start + this.#bodyAt;
    const name = this.#chunks.bind(this.#chunk!, offset, fact.sizeBytes, size);
    if (!this.#engine.steps.setBody(fact, body, name)) this.#chunks.release(name, fact.sizeBytes);
  }

  /** Answers how many bytes it took. */
  #write(fact: Fact): number {
    const writer = this.#writer;
    try {
      encodeFact(writer, fact, this.#writeBody);
    } catch (error) {
      writer.at = writer.start;
      throw error;
    }
    // Calls are refused before: what is written here and not understood there could not be undone.
    const level = TYPE_LEVELS[writer.bytes[writer.start]!]!;
    if (level > 1 && level > this.#engine.queries.level)
      assert.fail(`${fact.fact} needs level ${level}`);
    const size = writer.at - writer.start;
    this.#unsyncedBytes += size;
    this.#writtenBytes += size;
    this.#chunk!.size = writer.at;
    return size;
  }

  readonly #writeBody = (writer: ByteWriter, body: unknown): void => {
    this.#bodyAt = writer.at - writer.start;
    writeBody(writer, body as Body);
  };

  /** Resolves when all that is written now is durable. */
  durable(): Promise<void> {
    this.drain();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#unsyncedBytes === 0) return DONE;
    const commit = this.#gathering;
    if (commit.promise === undefined) {
      commit.promise = new Promise((resolve, reject) => {
        commit.resolve = resolve;
        commit.reject = reject;
      });
      // The callers that asked get the error; no other code has to handle it.
      commit.promise.catch(() => {});
    }
    return commit.promise;
  }

  /**
   * Calls back when all that is written now is durable, with the place of the commit that has the
   * latest of it; never when the log fails.
   */
  whenDurable(callback: (at: Committed) => void): void {
    this.drain();
    this.#gathering.done.push(callback);
  }

  /** Hands what is written to the log, unless a commit is on its way or more is about to come. */
  flush(): void {
    this.drain();
    if (this.#inFlight > 0 || this.#failure !== undefined) return;
    if (this.#unsyncedBytes < this.#enoughBytes) return;
    this.#cut(this.#writer.at);
    const commit = this.#gathering;
    if (this.#parts.length === 0 && commit.promise === undefined && commit.done.length === 0)
      return;
    this.#gathering = newCommit();
    this.#commits++;
    const groups = groupsOf(this.#parts);
    this.#parts = [];
    commit.parts = groups.length;
    commit.bytes = this.#unsyncedBytes;
    this.#inFlight = 1;
    this.#flushedAt = performance.now();
    if (groups.length === 0) queueMicrotask(() => this.#finish(commit));
    for (const group of groups) this.#append(commit, group);
  }

  /** One append, so that a power loss keeps all of it or nothing, whatever chunks it is in. */
  #append(commit: Commit, parts: readonly Written[]): void {
    const bytes = parts.map(({ chunk, from, to }) => chunk.bytes!.subarray(from, to));
    this.#log.append(bytes.length === 1 ? bytes[0]! : this.#join(bytes)).then(
      (position) => {
        commit.at.first = Math.min(commit.at.first, position);
        commit.at.last = Math.max(commit.at.last, position);
        this.#placed(parts, position);
        if (--commit.parts === 0) this.#finish(commit);
      },
      (error: unknown) => {
        this.fail(toSluiceError(error));
        commit.reject(this.#failure!);
      },
    );
  }

  /** In memory that is used again: a log copies the facts before `append` returns. */
  #join(parts: readonly Uint8Array[]): Uint8Array {
    let size = 0;
    for (const part of parts) size += part.length;
    if (size > JOINED_BYTES_MAX) return Buffer.concat(parts);
    if (size > this.#joined.length) this.#joined = Buffer.allocUnsafeSlow(2 * size);
    let at = 0;
    for (const part of parts) {
      this.#joined.set(part, at);
      at += part.length;
    }
    return this.#joined.subarray(0, size);
  }

  #placed(parts: readonly Written[], position: Position): void {
    let offset = 0;
    for (const { chunk, from, to } of parts) {
      chunk.unsynced--;
      this.#chunks.place(chunk, { from, to, position, offset });
      offset += to - from;
      this.#unsyncedBytes -= to - from;
      this.#chunks.settle(chunk);
    }
  }

  #finish(commit: Commit): void {
    this.#inFlight = 0;
    if (this.#failure !== undefined) return commit.reject(this.#failure);
    this.#hold(commit.bytes);
    this.flush();
    commit.resolve();
    for (const callback of commit.done) callback(commit.at);
    this.onCommit();
  }

  /**
   * Those who waited for a commit go on in this turn, one after the other. The next commit takes
   * what half of them bring, so that two of the same size take turns, one being written while the
   * other gathers: else the first of them would have a commit alone, and all others wait for it.
   */
  #hold(bytes: number): void {
    this.#enoughBytes = Math.max(bytes / 2, COMMIT_BYTES_MIN);
    setImmediate(() => {
      this.#enoughBytes = 0;
      this.flush();
    });
  }

  /** Nothing is confirmed from now on. */
  fail(error: SluiceError): void {
    if (this.#failure !== undefined) return;
    this.#failure = toldOf(error);
    this.#gathering.reject(this.#failure);
    const isTold = error.code === "LOG_FAILED";
    const message = `the log failed: ${error.message}`;
    const whole = isTold ? error : new SluiceError("LOG_FAILED", message, {}, { cause: error });
    this.#onFailure(this.#failure, whole);
  }

  /** What is written up to here is a part to hand to the log. */
  #cut(to: number): void {
    if (this.#chunk === undefined || to === this.#flushed) return;
    this.#parts.push({ chunk: this.#chunk, from: this.#flushed, to });
    this.#chunk.unsynced++;
    this.#flushed = to;
  }

  /** The chunk ends where the fact began that does not fit. */
  #more(needBytes: number): Uint8Array {
    const full = this.#chunk;
    if (full !== undefined) {
      this.#cut(this.#writer.start);
      full.size = this.#writer.start;
      full.isFilled = true;
      this.#chunks.settle(full);
    }
    this.#flushed = 0;
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.#chunks.chunkBytes, needBytes));
    this.#chunk = this.#chunks.make(bytes);
    return bytes;
  }
}

/** All parts in one group, but for a commit beyond what one append of a log may take. */
function groupsOf(parts: readonly Written[]): Written[][] {
  const groups: Written[][] = [];
  let room = 0;
  for (const part of parts) {
    if (part.to - part.from > room) {
      groups.push([]);
      room = APPEND_BYTES_MAX;
    }
    groups.at(-1)!.push(part);
    room -= part.to - part.from;
  }
  return groups;
}

const NO_BODY: Body = { headers: plainHeaders(undefined), payload: new Uint8Array(0) };

const DONE = Promise.resolve();

function newCommit(): Commit {
  return {
    bytes: 0,
    parts: 0,
    at: { first: Number.POSITIVE_INFINITY, last: 0 },
    done: [],
    promise: undefined,
    resolve: () => {},
    reject: () => {},
  };
}

/** Gets the failure as callers get it, and whole for the operator. */
type OnFailure = (failure: SluiceError, whole: SluiceError) => void;

/**
 * The failure as callers get it, who may be on the other side of a network: without the path of the
 * data directory. The operator gets it whole, by `onFailure`; in this process it is the cause.
 */
function toldOf(error: SluiceError): SluiceError {
  const { code } = error.details;
  const reason = typeof code === "string" ? ` (${code})` : "";
  const message = `the log failed${reason}; the broker confirms nothing more. Check the disk and restart`;
  const details = typeof code === "string" ? { code } : {};
  return new SluiceError("LOG_FAILED", message, details, { cause: error });
}
