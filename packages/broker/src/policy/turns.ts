/**
 * Keeps the order of what happens to a queue when some of it has to wait for a script: whoever
 * comes later acts later.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Somebody waits: whoever comes now must wait behind them. */
  isTaken(queue: string): boolean {
    return this.#last.has(queue);
  }

  /** Acts when `ready` has resolved and all earlier calls have acted, to the end. */
  async take<T>(queue: string, ready: Promise<T>, act: (value: T) => unknown): Promise<void> {
    const before = this.#last.get(queue);
    const turn = (async () => {
      const value = await ready;
      await before;
      const acting = act(value);
      if (acting instanceof Promise) await acting;
    })();
    // What one of them throws is its own.
    const over = turn.catch(() => {});
    this.#last.set(queue, over);
    try {
      await turn;
    } finally {
      if (this.#last.get(queue) === over) this.#last.delete(queue);
    }
  }
}
