import { DurationHistogram } from "@sluice/engine";
import type { ScriptStats } from "@sluice/protocol";
import { SCRIPT_WAIT_MS } from "../../limits.ts";
import { Breaker } from "../breaker.ts";
import type { Answer } from "./batch.ts";
import type { Hook } from "./messages.ts";
import { TimeShare } from "./time-shares.ts";

/** The next job often fails in the same way: one event a second is enough. */
const TELL_EVERY_MS = 1000;

/** Why a job got no answer: the script failed, its thread was ended, or its turn came too late. */
export type Trouble = "error" | "killed" | "timeout";

let last = 0;

/** The script of one queue, as the broker knows it. */
export class Script {
  readonly id = ++last;
  readonly queue: string;
  readonly source: string;
  readonly breaker: Breaker;
  /** What it has used of the threads. */
  readonly share = new TimeShare();
  readonly #now: () => number;
  readonly #onTrouble: (trouble: Trouble, text: string) => void;
  readonly #times = new DurationHistogram();
  #runs = 0;
  readonly #failures: Record<Trouble, number> = { error: 0, killed: 0, timeout: 0 };
  #toldAt = Number.NEGATIVE_INFINITY;
  /** The first letters of the hooks it has; undefined until it has run once. */
  #hooks: string | undefined;

  constructor(
    queue: string,
    source: string,
    now: () => number,
    onTrouble: (trouble: Trouble, text: string) => void,
  ) {
    this.queue = queue;
    this.source = source;
    this.breaker = new Breaker(now);
    this.#now = now;
    this.#onTrouble = onTrouble;
  }

  /** Whether there is something to ask: also true until it has run once. */
  mayHave(hook: Hook): boolean {
    return this.#hooks?.includes(hook === "enqueue" ? "e" : "f") ?? true;
  }

  learn(hooks: string): void {
    this.#hooks = hooks;
  }

  /** A batch has taken this much processor time. */
  used(ms: number): void {
    this.share.used(ms);
    this.#times.count(ms);
  }

  /** Counts an answer, for better or worse. */
  hear({ problem }: Answer): void {
    this.#runs++;
    this.breaker.hear(problem === undefined);
    if (problem !== undefined) this.#count("error", 1, problem);
  }

  /** Its thread was ended, with `jobs` jobs in it. */
  hearKilled(ms: number, jobs: number, text: string): void {
    this.#runs++;
    this.share.wasKilled(ms);
    this.#times.count(ms);
    this.breaker.hearKilled();
    this.#count("killed", jobs, text);
  }

  /** `jobs` jobs have waited for it too long. */
  hearLate(jobs: number): void {
    this.#count("timeout", jobs, `no answer within ${SCRIPT_WAIT_MS} ms: the script was not used`);
  }

  stats(): ScriptStats {
    const { isOpen } = this.breaker;
    return { runs: this.#runs, failures: { ...this.#failures }, times: this.#times.read(), isOpen };
  }

  #count(trouble: Trouble, jobs: number, text: string): void {
    this.#failures[trouble] += jobs;
    if (this.#now() - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = this.#now();
    this.#onTrouble(trouble, text);
  }
}
