import { Breaker } from "../breaker.ts";
import type { Answer } from "./batch.ts";
import type { Hook } from "./messages.ts";

/** What goes wrong for one job goes wrong for the next: nobody wants to hear of each. */
const TELL_EVERY_MS = 1000;

let last = 0;

/** The script of one queue, as the broker knows it. */
export class Script {
  readonly id = ++last;
  readonly queue: string;
  readonly source: string;
  readonly breaker: Breaker;
  readonly #now: () => number;
  readonly #onProblem: (problem: string) => void;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** The first letters of the hooks it has; undefined until it has run once. */
  #hooks: string | undefined;

  constructor(
    queue: string,
    source: string,
    now: () => number,
    onProblem: (problem: string) => void,
  ) {
    this.queue = queue;
    this.source = source;
    this.breaker = new Breaker(now);
    this.#now = now;
    this.#onProblem = onProblem;
  }

  /** Whether there is something to ask: also true as long as nobody knows. */
  mayHave(hook: Hook): boolean {
    return this.#hooks?.includes(hook === "enqueue" ? "e" : "f") ?? true;
  }

  learn(hooks: string): void {
    this.#hooks = hooks;
  }

  /** Counts an answer, for better or worse. */
  hear({ problem }: Answer): void {
    this.breaker.hear(problem === undefined);
    if (problem === undefined || this.#now() - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = this.#now();
    this.#onProblem(problem);
  }
}
