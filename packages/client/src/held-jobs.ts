import { afterOf, beforeOf, type Delivery, setAfter, setBefore } from "./delivery.ts";

/**
 * The jobs that one consumer holds, in the order in which they came. They are linked to each other:
 * with a `Set` a worker of small jobs took a fifth more of the processor, for hashing, for growing
 * and for memory that every collection goes through.
 */
export class HeldJobs {
  #first: Delivery | undefined = undefined;
  #last: Delivery | undefined = undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(job: Delivery): boolean {
    return job === this.#first || beforeOf(job) !== undefined;
  }

  add(job: Delivery): void {
    if (this.has(job)) return;
    const last = this.#last;
    if (last === undefined) this.#first = job;
    else {
      setBefore(job, last);
      setAfter(last, job);
    }
    this.#last = job;
    this.#size++;
  }

  /** False when it was not there. */
  delete(job: Delivery): boolean {
    if (!this.has(job)) return false;
    const before = beforeOf(job);
    const after = afterOf(job);
    if (before === undefined) this.#first = after;
    else setAfter(before, after);
    if (after === undefined) this.#last = before;
    else setBefore(after, before);
    setBefore(job, undefined);
    setAfter(job, undefined);
    this.#size--;
    return true;
  }

  /** Those that are held now: what the caller does to some of them changes nothing in the list. */
  all(): Delivery[] {
    const jobs: Delivery[] = [];
    for (let job = this.#first; job !== undefined; job = afterOf(job)) jobs.push(job);
    return jobs;
  }
}
