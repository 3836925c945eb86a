import type { OldestJob } from "@sluice/engine";
import type { QueueTimes } from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import { idOf } from "./job-ids.ts";
import { OLDEST_KEPT_MS, OLDEST_KEPT_TIMES } from "./limits.ts";

export type Oldest = Pick<QueueTimes, "oldest" | "nextDueAt">;

/**
 * The oldest waiting job of every queue, and the next that is due. One walk finds all of them, a
 * slice at a time; what it found is good for a while, the longer the more it cost, so that asking
 * often costs little.
 */
export class OldestJobs {
  readonly #calls: EngineCalls;
  #found: Promise<Map<string, Oldest>> | undefined;
  #isStaleAt = 0;

  constructor(calls: EngineCalls) {
    this.#calls = calls;
  }

  read(): Promise<Map<string, Oldest>> {
    this.#calls.check();
    if (this.#found === undefined || performance.now() >= this.#isStaleAt) {
      this.#isStaleAt = Number.POSITIVE_INFINITY;
      this.#found = this.#walk();
      this.#found.catch(() => {
        this.#found = undefined;
      });
    }
    return this.#found;
  }

  async #walk(): Promise<Map<string, Oldest>> {
    const since = performance.now();
    const survey = this.#calls.call((engine) => engine.queries.surveyOldest());
    while (survey.step()) {
      await new Promise(setImmediate);
      this.#calls.check();
    }
    const tookMs = performance.now() - since;
    this.#isStaleAt = performance.now() + Math.max(OLDEST_KEPT_MS, OLDEST_KEPT_TIMES * tookMs);
    const found = [...survey.oldest()];
    return new Map(found.map(([queue, job]) => [queue, shown(job)]));
  }
}

function shown({ id, addedAt, nextDueAt }: OldestJob): Oldest {
  const found: Oldest = {};
  if (id !== 0) found.oldest = { id: idOf(id), addedAt };
  if (nextDueAt !== Number.POSITIVE_INFINITY) found.nextDueAt = nextDueAt;
  return found;
}
