/**
 * The time that running handlers have to end when their holder closes. Whoever closes again with a
 * shorter time shortens it; saying nothing leaves it as it is.
 */
import type { Timer } from "@sluice/protocol";
import type { Connection } from "./connection.ts";
import { CLOSE_ANSWER_MS, LAST_ANSWER_MS } from "./limits.ts";

export class Grace {
  readonly #connection: Connection;
  readonly #onOver: () => void;
  /** Each close has a timer of its own: the first to fire ends the time. */
  readonly #timers: Timer[] = [];
  /** When the shortest time that was given is over. */
  #endsAt: number | undefined = undefined;
  #isOver = false;

  constructor(connection: Connection, onOver: () => void) {
    this.#connection = connection;
    this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Undefined: the usual time, unless another was given before. */
  give(timeoutMs: number | undefined): void {
    if (this.#isOver || (timeoutMs === undefined && this.#timers.length > 0)) return;
    if (timeoutMs !== undefined) {
      const endsAt = this.#connection.clock.now() + timeoutMs;
      this.#endsAt = Math.min(this.#endsAt ?? endsAt, endsAt);
    }
    this.#timers.push(this.#connection.graceOver(timeoutMs, () => this.end()));
  }

  /** How long the broker may take for its last answers. */
  get answerMs(): number {
    if (this.#endsAt === undefined) return LAST_ANSWER_MS;
    return Math.max(this.#endsAt - this.#connection.clock.now(), CLOSE_ANSWER_MS);
  }

  /** There is nothing left to wait for, or the time is over. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#onOver();
  }
}
