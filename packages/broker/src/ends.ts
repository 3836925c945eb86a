import type { Engine, Fact } from "@sluice/engine";
import { type JobEnd, SluiceError } from "@sluice/protocol";
import { endOf } from "./feed.ts";
import type { Journal } from "./journal.ts";
import { idOf } from "./tokens.ts";

type Waiter = PromiseWithResolvers<JobEnd>;

/** Those who wait for the end of a job. They are told once it is durable. */
export class Ends {
  readonly #engine: Engine;
  readonly #journal: Journal;
  readonly #waiters = new Map<number, Set<Waiter>>();

  constructor(engine: Engine, journal: Journal) {
    this.#engine = engine;
    this.#journal = journal;
  }

  wait(job: number, signal: AbortSignal | undefined): Promise<JobEnd> {
    if (signal?.aborted === true) return Promise.reject(aborted(signal));
    const ended = this.#known(job);
    if (ended !== undefined) return this.#journal.durable().then(() => ended);
    const waiter: Waiter = Promise.withResolvers();
    const waiters = this.#waiters.get(job) ?? new Set();
    this.#waiters.set(job, waiters.add(waiter));
    if (signal === undefined) return waiter.promise;
    const abort = (): void => {
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiters.delete(job);
      waiter.reject(aborted(signal));
    };
    signal.addEventListener("abort", abort, { once: true });
    return waiter.promise.finally(() => signal.removeEventListener("abort", abort));
  }

  /** A job that has ended and is kept, or is in a dead letter queue. */
  #known(job: number): JobEnd | undefined {
    const view = this.#engine.job(job);
    if (view === undefined) {
      // Known by its number, but no longer kept: `why` says which of the two it is.
      this.#engine.why(job, 0);
      return undefined;
    }
    const id = idOf(job);
    if (view.origin !== undefined && view.ending === undefined) {
      const death = this.#engine.history(job).findLast(({ event }) => event === "dead");
      const end: JobEnd = { id, queue: view.origin, ending: "dead", at: death?.at ?? view.addedAt };
      return view.error === undefined ? end : { ...end, error: view.error };
    }
    if (view.ending === undefined) return undefined;
    const end: JobEnd = { id, queue: view.queue, ending: view.ending, at: view.at! };
    if (view.error !== undefined) end.error = view.error;
    if (view.result !== undefined) end.result = view.result as Uint8Array;
    if (view.waited !== undefined) end.waited = view.waited;
    return end;
  }

  hear(fact: Fact): void {
    if (this.#waiters.size === 0 || (fact.fact !== "ended" && fact.fact !== "dead")) return;
    const queue = this.#engine.queueOf(fact.id) ?? "";
    if (fact.fact === "ended") return this.#end(fact.id, endOf(fact, queue));
    const error = fact.error ?? fact.reason;
    this.#end(fact.id, { id: idOf(fact.id), queue, ending: "dead", at: fact.at, error });
  }

  /** The jobs of a queue that is about to be deleted end with it. */
  queueGone(queue: string, at: number): void {
    for (const job of this.#waiters.keys()) {
      if (this.#engine.queueOf(job) !== queue) continue;
      this.#end(job, { id: idOf(job), queue, ending: "cancelled", at });
    }
  }

  failAll(error: SluiceError): void {
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(error);
    this.#waiters.clear();
  }

  #end(job: number, end: JobEnd): void {
    const waiters = this.#waiters.get(job);
    if (waiters === undefined) return;
    this.#waiters.delete(job);
    this.#journal.whenDurable(() => {
      for (const { resolve } of waiters) resolve(end);
    });
  }
}

export function aborted(signal: AbortSignal): SluiceError {
  return new SluiceError("ABORTED", "the caller gave up", {}, { cause: signal.reason });
}
