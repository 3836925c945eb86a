import { FOLLOW_MS } from "../limits.ts";
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
  /** The last that is known to be there. */
  #known: Position = 0;
  #end: Position | undefined;

  constructor(stream: NatsStream) {
    this.#stream = stream;
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
    while (this.#end === undefined) {
      this.#known = (await this.#stream.info()).state.last_seq;
      if (sequence < this.#known) return false;
      this.#reached.resolve();
      await Promise.race([
        this.#decided.promise,
        new Promise((resolve) => setTimeout(resolve, FOLLOW_MS)),
      ]);
    }
    return sequence >= this.#end;
  }
}
