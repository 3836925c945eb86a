// A broker in a user's process must never end it: what nobody catches is a failure of the world,
// not of the process that runs it.

const EVENTS = ["unhandledRejection", "uncaughtException"] as const;

export class Guard {
  readonly #had = EVENTS.map((event) => [event, process.rawListeners(event)] as const);
  #caught: unknown;

  constructor() {
    for (const event of EVENTS) {
      process.removeAllListeners(event);
      process.on(event, this.#catch);
    }
  }

  // Answers what would have ended the process.
  end(): string | undefined {
    for (const [event, listeners] of this.#had) {
      process.removeListener(event, this.#catch);
      for (const listener of listeners) process.on(event, listener as () => void);
    }
    const error = this.#caught;
    if (error === undefined) return undefined;
    return `the process would have ended: ${error instanceof Error ? error.stack : error}`;
  }

  readonly #catch = (error: unknown): void => {
    this.#caught ??= error;
  };
}
