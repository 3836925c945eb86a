import type { Engine, Fact } from "@sluice/engine";
import { type GroupInfo, hasEnded, type JobEnd, SluiceError } from "@sluice/protocol";
import { endOf, groupInfo } from "./feed.ts";
import { idOf } from "./job-ids.ts";
import type { Journal } from "./journal.ts";

/** Those who wait for the end of a job or of a group. They are told once it is durable. */
export class Ends {
  readonly #engine: Engine;
  readonly #journal: Journal;
  readonly #jobs = new Waiters<number, JobEnd>();
  readonly #groups = new Waiters<string, GroupInfo>();

  constructor(engine: Engine, journal: Journal) {
    this.#engine = engine;
    this.#journal = journal;
  }

  wait(job: number, signal: AbortSignal | undefined): Promise<JobEnd> {
    if (signal?.aborted === true) return Promise.reject(aborted(signal));
    const ended = this.#known(job);
    if (ended !== undefined) return this.#journal.durable().then(() => ended);
    return this.#jobs.wait(job, signal);
  }

  waitGroup(name: string, signal: AbortSignal | undefined): Promise<GroupInfo> {
    if (signal?.aborted === true) return Promise.reject(aborted(signal));
    const info = groupInfo(name, this.#engine);
    if (info.ended) return this.#journal.durable().then(() => info);
    return this.#groups.wait(name, signal);
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
    const { dead, state } = view;
    if (!hasEnded(state)) {
      if (dead === undefined) return undefined;
      const end: JobEnd = { id, queue: dead.origin, state: "dead", at: dead.at };
      return view.error === undefined ? end : { ...end, error: view.error };
    }
    const end: JobEnd = { id, queue: view.queue, state, at: view.at! };
    if (view.error !== undefined) end.error = view.error;
    if (view.result !== undefined) end.result = view.result as Uint8Array;
    if (view.waited !== undefined) end.waited = view.waited;
    return end;
  }

  hear(fact: Fact): void {
    if (this.#jobs.isEmpty || (fact.fact !== "ended" && fact.fact !== "dead")) return;
    const { queue = "" } = fact;
    if (fact.fact === "ended") return this.#end(fact.id, endOf(fact, queue));
    const error = fact.error ?? fact.reason;
    this.#end(fact.id, { id: idOf(fact.id), queue, state: "dead", at: fact.at, error });
  }

  hearGroup(name: string): void {
    const told = this.#groups.take(name);
    if (told === undefined) return;
    const info = groupInfo(name, this.#engine);
    this.#journal.whenDurable(() => told(info));
  }

  /** The jobs of a queue that is about to be deleted end with it. */
  queueGone(queue: string, at: number): void {
    for (const job of this.#jobs.keys()) {
      if (this.#engine.queueOf(job) !== queue) continue;
      this.#end(job, { id: idOf(job), queue, state: "cancelled", at });
    }
  }

  failAll(error: SluiceError): void {
    this.#jobs.failAll(error);
    this.#groups.failAll(error);
  }

  #end(job: number, end: JobEnd): void {
    const told = this.#jobs.take(job);
    if (told !== undefined) this.#journal.whenDurable(() => told(end));
  }
}

/** Those who wait, by what they wait for: telling them costs as much as there are of them. */
class Waiters<Key, Value> {
  readonly #waiting = new Map<Key, Set<PromiseWithResolvers<Value>>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  keys(): Iterable<Key> {
    return this.#waiting.keys();
  }

  wait(key: Key, signal: AbortSignal | undefined): Promise<Value> {
    const waiter = Promise.withResolvers<Value>();
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(waiter));
    if (signal === undefined) return waiter.promise;
    const abort = (): void => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiting.get(key) === waiters) this.#waiting.delete(key);
      waiter.reject(aborted(signal));
    };
    signal.addEventListener("abort", abort, { once: true });
    return waiter.promise.finally(() => signal.removeEventListener("abort", abort));
  }

  /** Takes those who wait for this off; the answer tells them. Undefined: there is nobody. */
  take(key: Key): ((value: Value) => void) | undefined {
    const waiters = this.#waiting.get(key);
    if (waiters === undefined) return undefined;
    this.#waiting.delete(key);
    return (value) => {
      for (const { resolve } of waiters) resolve(value);
    };
  }

  failAll(error: SluiceError): void {
    for (const waiters of this.#waiting.values()) for (const { reject } of waiters) reject(error);
    this.#waiting.clear();
  }
}

export function aborted(signal: AbortSignal): SluiceError {
  return new SluiceError("ABORTED", "the caller gave up", {}, { cause: signal.reason });
}
