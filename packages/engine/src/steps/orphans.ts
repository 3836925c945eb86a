/**
 * Results and signals that a replay meets before the record of their job. In a trimmed log, facts
 * about a job may come before its record. Results and signals that no job claims belong to jobs
 * that have ended.
 */
import { RESULT_KEY } from "./step-names.ts";

interface Part {
  readonly body: unknown;
  readonly sizeBytes: number;
}

export class Orphans {
  readonly #parts = new Map<number, Map<string, Part>>();

  /** Answers the part whose place it takes. */
  put(job: number, key: string, part: Part): Part | undefined {
    const parts = this.#parts.get(job) ?? new Map<string, Part>();
    const before = parts.get(key);
    this.#parts.set(job, parts.set(key, part));
    return before;
  }

  /** All that was met for a job, by key. It is the caller's from now on. */
  take(job: number): ReadonlyMap<string, Part> | undefined {
    const parts = this.#parts.get(job);
    if (parts !== undefined) this.#parts.delete(job);
    return parts;
  }

  /** The job has ended: its own result may be claimed by a record further on, and nothing else. */
  takeSteps(job: number): Part[] {
    const parts = this.#parts.get(job);
    const own = parts?.get(RESULT_KEY);
    this.#parts.delete(job);
    if (own === undefined) return [...(parts?.values() ?? [])];
    this.#parts.set(job, new Map([[RESULT_KEY, own]]));
    return [...parts!.values()].filter((part) => part !== own);
  }

  takeAll(): Part[] {
    const all = [...this.#parts.values()].flatMap((parts) => [...parts.values()]);
    this.#parts.clear();
    return all;
  }
}
