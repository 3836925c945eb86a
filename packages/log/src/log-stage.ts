import { invalid, SluiceError } from "@sluice/protocol";
import { FACTS_BYTES_MAX } from "./limits.ts";

/**
 * How far a log is in its life, the same for every driver:
 *
 *   opened      nothing but `replay` and `close`
 *   replaying   the same; another replay is refused
 *   ready       the replay has come to its end: appends, reads and trims
 *   closed      nothing any more
 */
type Stage = "opened" | "replaying" | "ready" | "closed";

export class LogStage {
  #stage: Stage = "opened";

  beginReplay(): void {
    this.#checkOpen();
    if (this.#stage !== "opened") {
      throw new SluiceError("INVALID", "replay() can be called once, before the first append");
    }
    this.#stage = "replaying";
  }

  endReplay(): void {
    this.#checkOpen();
    this.#stage = "ready";
  }

  /** Throws unless the log takes appends, reads and trims. */
  checkReady(): void {
    if (this.#stage !== "ready") throw this.#notReady();
  }

  /** Why the facts cannot be appended; undefined when they can. */
  refusalOf(facts: Uint8Array): SluiceError | undefined {
    if (this.#stage !== "ready") return this.#notReady();
    if (!(facts instanceof Uint8Array)) return invalid("facts", "a Uint8Array", facts);
    if (facts.length <= FACTS_BYTES_MAX) return undefined;
    return invalid("facts.length", `at most ${FACTS_BYTES_MAX}`, facts.length);
  }

  get isReplaying(): boolean {
    return this.#stage === "replaying";
  }

  get isClosed(): boolean {
    return this.#stage === "closed";
  }

  close(): void {
    this.#stage = "closed";
  }

  #checkOpen(): void {
    if (this.#stage === "closed") throw closed();
  }

  #notReady(): SluiceError {
    if (this.#stage === "closed") return closed();
    return new SluiceError("INVALID", "the log has to be replayed to its end first");
  }
}

function closed(): SluiceError {
  return new SluiceError("CLOSED", "the log is closed");
}
