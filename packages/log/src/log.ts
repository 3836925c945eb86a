import type { SluiceError } from "@sluice/protocol";

/**
 * The place of a batch of facts in the log. A safe integer that only grows, over restarts and trims
 * too; for the file log it is the address of the batch's frame in all bytes ever written.
 */
export type Position = number;

/**
 * The end of a log that a start has cut off: its last frames are not whole. As a rule they belong
 * to an append that a crash interrupted, and no caller had an answer. A disk that changed bytes of
 * the last commit after it was synced leaves the same picture, so nothing more can be said of them
 * than that they cannot be shown to have been confirmed.
 */
export interface TornTail {
  /** The segment that was cut. */
  readonly file: string;
  /** Where in it. */
  readonly offset: number;
  readonly sizeBytes: number;
  /** The file with the bytes that were cut; undefined when the disk was full. */
  readonly aside: string | undefined;
}

export interface Batch {
  readonly position: Position;
  /** The receiver's to keep, but not to change: it may be a view of a larger read. */
  readonly facts: Uint8Array;
  /** When it was stored, by the log's own clock; undefined for a log that has none. */
  readonly storedAt?: number;
}

/**
 * A confirmed batch and the number of the chain behind it (`nats/chain.ts`), noted outside the log.
 * A log that lacks it, or has another message there, is not the one that was written.
 */
export interface Anchor {
  readonly position: Position;
  readonly chain: number;
}

/** A part of the log that is forgotten as a whole: `trim(end)` forgets it and all before it. */
export interface Span {
  /** No batch of the span is before this position. */
  readonly first: Position;
  /** Every batch of the span is before this position. */
  readonly end: Position;
  readonly sizeBytes: number;
}

export interface ReplayOptions {
  /** The caller needs no batch longer than until it asks for the next: its memory may be reused. */
  readonly reuse?: boolean;
}

/**
 * The ordered sequence of facts. One owner has it open at a time; a driver refuses the second one.
 *
 * A life: `open` (the driver's own), `replay` to its end, then any number of `append`, `read` and
 * `trim` side by side, then `close`. A failed write is final: the append that met it and all others
 * that wait or come later reject with LOG_FAILED, and the broker must open the log again.
 */
export interface Log {
  /**
   * Spans that begin from now on end at this size, if the log's own are not smaller; a larger batch
   * has a span of its own. The broker calls it before the replay: how much a log may hold beyond
   * what lives in it depends on the size of what can be forgotten at once.
   */
  limitSpans(sizeBytes: number): void;
  /** All batches that are kept, the oldest first. Once, and to its end, before the first append. */
  replay(options?: ReplayOptions): AsyncIterable<Batch>;
  /**
   * Durable when it resolves, in the order of the calls. The facts are copied before it returns.
   * There is no position before that: a driver over a network learns it only from the answer.
   */
  append(facts: Uint8Array): Promise<Position>;
  /**
   * Bytes `offset` to `offset + length` of a batch's facts, checked against their checksum. At once
   * when they are at hand. The bytes may be kept but not changed. Throws for an invalid request.
   */
  read(position: Position, offset: number, length: number): Uint8Array | Promise<Uint8Array>;
  /** Allows to forget all batches before the position; whole spans go, the newest one stays. */
  trim(before: Position): Promise<void>;
  /** Waits for pending appends and lets go of the log. A second call waits for the first. */
  close(): Promise<void>;
  /**
   * What the log's own clock said when its replay came to its end, for a log that has one: the same
   * for all owners, so that time continues from one to the next whatever their own clocks say.
   */
  readonly replayedAt?: number | undefined;
  /** What messages call it, when there are several. */
  readonly name?: string | undefined;
  /** The newest that is confirmed, for a log whose storage may come back with another history. */
  readonly anchor?: Anchor | undefined;
  /** What the opening has cut off the end of the log, for a log that can be torn. */
  readonly torn?: TornTail | undefined;
  /** What is kept, the oldest first: what a cleaner needs to choose what to trim. */
  spans(): readonly Span[];
  /** Bytes of all spans. Before the first append these are the bytes that a replay goes through. */
  readonly sizeBytes: number;
  /** Resolves when the log fails, with the error that all later calls get; else never. */
  readonly failed: Promise<SluiceError>;
}
