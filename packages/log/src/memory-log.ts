import { invalid, SluiceError } from "@sluice/protocol";
import { checkRange } from "./block-cache.ts";
import { countWhile } from "./count-while.ts";
import type { Batch, Log, Position, Span } from "./log.ts";
import { LogStage } from "./log-stage.ts";

/** Small spans, so that a trim gives memory back early. */
const SPAN_BYTES = 1024 * 1024;

interface MemorySpan {
  readonly base: Position;
  sizeBytes: number;
  readonly batches: Batch[];
}

export interface MemoryLogOptions {
  /** Where a span ends and the next begins; 1 MiB. */
  readonly segmentBytes?: number;
  /** A closed log whose batches this one takes over: a restart without a disk. */
  readonly after?: MemoryLog;
  /** A clock of its own, as a log on servers has one. */
  readonly now?: () => number;
}

/** A log that ends with the process. Nothing can fail, and everything is at hand. */
export class MemoryLog implements Log {
  readonly failed: Promise<SluiceError> = new Promise(() => {});
  readonly #stage = new LogStage();
  #spanBytes: number;
  /** The oldest first. */
  #spans: MemorySpan[] = [];
  #end: Position = 0;
  readonly #now: (() => number) | undefined;
  replayedAt: number | undefined;

  constructor({ segmentBytes = SPAN_BYTES, after, now }: MemoryLogOptions = {}) {
    if (!Number.isSafeInteger(segmentBytes) || segmentBytes < 1) {
      throw invalid("segmentBytes", "a whole number from 1", segmentBytes);
    }
    this.#spanBytes = segmentBytes;
    this.#now = now;
    if (after === undefined) return;
    if (!after.#stage.isClosed)
      throw new SluiceError("LOG_LOCKED", "the log is still open: close it first");
    this.#spans = after.#spans;
    this.#end = after.#end;
  }

  limitSpans(sizeBytes: number): void {
    this.#spanBytes = Math.min(this.#spanBytes, sizeBytes);
  }

  get sizeBytes(): number {
    return this.#spans.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  spans(): readonly Span[] {
    return this.#spans.map(({ base, sizeBytes }, index) => ({
      first: base,
      end: this.#spans[index + 1]?.base ?? this.#end,
      sizeBytes,
    }));
  }

  async *replay(): AsyncGenerator<Batch, void, undefined> {
    this.#stage.beginReplay();
    for (const { batches } of this.#spans) yield* batches;
    this.#stage.endReplay();
    this.replayedAt = this.#now?.();
  }

  append(facts: Uint8Array): Promise<Position> {
    const refusal = this.#stage.refusalOf(facts);
    if (refusal !== undefined) return Promise.reject(refusal);
    const span = this.#spanFor(facts.length);
    const position = this.#end;
    // A batch takes one address at least: an empty one has a position of its own too.
    this.#end += facts.length + 1;
    span.sizeBytes += facts.length;
    // No `slice`: that of a Buffer does not copy.
    const batch = { position, facts: new Uint8Array(facts) };
    span.batches.push(this.#now === undefined ? batch : { ...batch, storedAt: this.#now() });
    return Promise.resolve(position);
  }

  read(position: Position, offset: number, length: number): Uint8Array {
    this.#stage.checkReady();
    const span = this.#spans.findLast(({ base }) => base <= position);
    const batch = span && findBatch(span.batches, position);
    if (batch === undefined) throw invalid("position", "a position that is kept", position);
    checkRange(batch.facts.length, offset, length);
    return batch.facts.subarray(offset, offset + length);
  }

  async trim(before: Position): Promise<void> {
    this.#stage.checkReady();
    const ends = this.spans();
    this.#spans = this.#spans.filter((_, i) => i === ends.length - 1 || ends[i]!.end > before);
  }

  async close(): Promise<void> {
    this.#stage.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #spanFor(bytes: number): MemorySpan {
    const last = this.#spans.at(-1);
    if (last !== undefined) {
      const isFull = last.batches.length > 0 && last.sizeBytes + bytes > this.#spanBytes;
      if (!isFull) return last;
    }
    const span = { base: this.#end, sizeBytes: 0, batches: [] };
    this.#spans.push(span);
    return span;
  }
}

function findBatch(batches: readonly Batch[], position: Position): Batch | undefined {
  const found = batches[countWhile(batches, (batch) => batch.position < position)];
  return found?.position === position ? found : undefined;
}
