/** What a worker and a consumption need to wait and to close. */
import type { Timer } from "@sluice/protocol";
import type { Connection } from "./connection.ts";
import { CLOSE_ANSWER_MS, LAST_ANSWER_MS } from "./limits.ts";

/**
 * The time that running handlers have to end when their holder closes. Closing again with a shorter
 * time shortens it; without a time it stays as it is.
 */
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

/** Waits for a condition of its owner, who says when to look again. */
export class Watch {
  #waiting: { holds: () => boolean; resolve: () => void }[] = [];

  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ holds, resolve });
    });
  }

  look(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ holds, resolve }) => {
      const isOver = holds();
      if (isOver) resolve();
      return !isOver;
    });
  }
}

/** The longest time that a timer of JavaScript can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Keeps the process running, as an open socket would, until the answer is called: a process that
 * only waits for jobs must not end.
 */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, LONGEST_MS);
  return () => clearInterval(timer);
}
