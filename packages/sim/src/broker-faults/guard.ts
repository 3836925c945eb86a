// A broker must never end the user's process that it runs in. An uncaught error fails the world,
// not the process that runs the world.

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
