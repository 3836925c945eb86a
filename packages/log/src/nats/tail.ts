import { FOLLOW_MS, FOLLOW_MS_MAX } from "../limits.ts";
import type { Position } from "../log.ts";
import type { NatsStream } from "./nats-stream.ts";

/**
 * Where a replay ends. A log that is only followed has no end: the replay waits for more at what is
 * the end for the moment, until the log is taken over and the end is known, or given up.
 */
export class Tail {
  readonly #stream: NatsStream;
  readonly #reached = Promise.withResolvers<void>();
  readonly #decided = Promise.withResolvers<void>();
  readonly #onFirst: (first: Position) => void;
  /** The last that is known to be there. */
  #known: Position = 0;
  #end: Position | undefined;

  /** Calls `onFirst` now and then with the stream's first position, because its owner trims it. */
  constructor(stream: NatsStream, onFirst: (first: Position) => void) {
    this.#stream = stream;
    this.#onFirst = onFirst;
  }

  /** Resolves when all was read that was there at some moment. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  endAt(end: Position): void {
    this.#end = end;
    this.#decided.resolve();
  }

  /** The follower has stopped. */
  giveUp(): void {
    this.#end ??= 0;
    this.#decided.resolve();
  }

  /** At once while more is known to come; else when there is more, or the end is known. */
  isLast(sequence: Position): boolean | Promise<boolean> {
    if (this.#end !== undefined) return sequence >= this.#end;
    return sequence < this.#known ? false : this.#wait(sequence);
  }

  async #wait(sequence: Position): Promise<boolean> {
    let pauseMs = FOLLOW_MS;
    while (this.#end === undefined) {
      const { last_seq, first_seq } = (await this.#stream.info()).state;
      this.#known = last_seq;
      this.#onFirst(first_seq);
      if (sequence < this.#known) return false;
      this.#reached.resolve();
      await this.#pause(pauseMs);
      // The tail looks less and less often at a log that gets no writes.
      pauseMs = Math.min(FOLLOW_MS_MAX, pauseMs * 2);
    }
    return sequence >= this.#end;
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([this.#decided.promise, promise]);
    clearTimeout(timer);
  }
}
