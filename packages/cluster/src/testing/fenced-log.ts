import type { Batch, Log, Position, Span } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";

/** What the logs of one partition write to in turn: only the one that was opened last may. */
export class FencedStore {
  readonly batches: Batch[] = [];
  fence = 0;
  next = 1;
  /** Nothing is confirmed while it is away. */
  isAway = false;

  open(): FencedLog {
    this.#check();
    return new FencedLog(this, ++this.fence);
  }

  /** A log that is read along, and taken over later. */
  follow(): FencedLog {
    this.#check();
    return new FencedLog(this, 0);
  }

  append(fence: number, facts: Uint8Array): Position {
    this.#check();
    if (fence !== this.fence) throw new SluiceError("LOG_FAILED", "another owner has opened it");
    const position = this.next++;
    this.batches.push({ position, facts: new Uint8Array(facts), storedAt: Date.now() });
    return position;
  }

  #check(): void {
    if (this.isAway) throw new SluiceError("LOG_FAILED", "the store is away");
  }
}

/** A log in memory that fences as JetStream does. */
export class FencedLog implements Log {
  readonly #store: FencedStore;
  readonly #caughtUp = Promise.withResolvers<void>();
  readonly #decided = Promise.withResolvers<void>();
  #fence: number;
  readonly #failure = Promise.withResolvers<SluiceError>();
  #error: SluiceError | undefined;
  /** Its appends are not answered any more. */
  isStuck = false;
  replayedAt: number | undefined;

  constructor(store: FencedStore, fence: number) {
    this.#store = store;
    this.#fence = fence;
  }

  get failed(): Promise<SluiceError> {
    return this.#failure.promise;
  }

  get sizeBytes(): number {
    return this.#store.batches.reduce((sum, { facts }) => sum + facts.length, 0);
  }

  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  async takeOver(): Promise<void> {
    this.#fence = ++this.#store.fence;
    this.#decided.resolve();
  }

  async *replay(): AsyncGenerator<Batch, void, undefined> {
    let read = 0;
    if (this.#fence === 0) {
      for (const batch of [...this.#store.batches]) {
        read = batch.position;
        yield batch;
      }
      this.#caughtUp.resolve();
      await this.#decided.promise;
      if (this.#fence === 0) throw new SluiceError("CLOSED", "the log is closed");
    }
    yield* this.#store.batches.filter(({ position }) => position > read);
    this.replayedAt = Date.now();
  }

  async append(facts: Uint8Array): Promise<Position> {
    if (this.#error !== undefined) throw this.#error;
    if (this.isStuck) return new Promise(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1));
    try {
      return this.#store.append(this.#fence, facts);
    } catch (error) {
      this.#error = error as SluiceError;
      this.#failure.resolve(this.#error);
      throw error;
    }
  }

  read(position: Position, offset: number, length: number): Uint8Array {
    const batch = this.#store.batches.find((one) => one.position === position)!;
    return batch.facts.subarray(offset, offset + length);
  }

  async trim(before: Position): Promise<void> {
    const at = this.#store.batches.findIndex(({ position }) => position >= before);
    if (at > 0) this.#store.batches.splice(0, at);
  }

  async close(): Promise<void> {
    this.#decided.resolve();
  }

  /** Its process is gone: what it has not written yet is lost. */
  kill(): void {
    this.#error = new SluiceError("LOG_FAILED", "the process is gone");
  }

  /** All of it is one span. */
  limitSpans(): void {}

  spans(): readonly Span[] {
    const first = this.#store.batches[0]?.position ?? this.#store.next;
    return [{ first, end: this.#store.next, sizeBytes: this.sizeBytes }];
  }
}
