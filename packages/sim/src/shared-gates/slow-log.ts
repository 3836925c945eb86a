// A log in memory whose appends take a while: what was not durable when the process died is gone.

import { type Batch, type Log, MemoryLog, type Position, type Span } from "@sluice/log";
import type { SluiceError } from "@sluice/protocol";
import type { SimClock } from "../sim-clock.ts";

export class SlowLog implements Log {
  readonly #inner: MemoryLog;
  readonly #clock: SimClock;
  readonly #delayMs: () => number;
  #isGone = false;
  #doneAt = 0;
  readonly failed: Promise<SluiceError>;

  constructor(clock: SimClock, delayMs: () => number, after?: SlowLog) {
    this.#inner = new MemoryLog(after === undefined ? {} : { after: after.#inner });
    this.failed = this.#inner.failed;
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  get sizeBytes(): number {
    return this.#inner.sizeBytes;
  }

  limitSpans(sizeBytes: number): void {
    this.#inner.limitSpans(sizeBytes);
  }

  spans(): readonly Span[] {
    return this.#inner.spans();
  }

  replay(): AsyncGenerator<Batch, void, undefined> {
    return this.#inner.replay();
  }

  append(facts: Uint8Array): Promise<Position> {
    const bytes = Uint8Array.from(facts);
    return new Promise((resolve) => {
      this.#doneAt = Math.max(this.#doneAt, this.#clock.now() + this.#delayMs());
      this.#clock.at(this.#doneAt, () => {
        if (!this.#isGone) resolve(this.#inner.append(bytes));
      });
    });
  }

  read(position: Position, offset: number, length: number): Uint8Array {
    return this.#inner.read(position, offset, length);
  }

  trim(before: Position): Promise<void> {
    return this.#inner.trim(before);
  }

  // The process dies.
  async kill(): Promise<void> {
    this.#isGone = true;
    await this.#inner.close();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
