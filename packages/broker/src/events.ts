import { type Engine, endStateOf, type Fact, isOwnResult } from "@sluice/engine";
import {
  aborted,
  type BrokerEvent,
  checkSignal,
  type EventFilter,
  EventQueue,
  type GroupInfo,
  hasEnded,
  type JobEnd,
  queueOfGroup,
  SluiceError,
} from "@sluice/protocol";
import type { Chunks } from "./chunks.ts";
import { idOf } from "./job-ids.ts";
import type { Journal } from "./journal.ts";
import { withResult } from "./results.ts";
import { nameOfKey, queueOfKey } from "./schedules/scheduled-jobs.ts";

/** Facts as events, for those who listen. With no listener nothing is made. */
export class EventFeed {
  readonly #readers = new Map<EventQueue, EventFilter>();
  /** What happened before there could be readers. */
  readonly #first: BrokerEvent[] = [];

  get isHeard(): boolean {
    return this.#readers.size > 0;
  }

  tell(event: BrokerEvent): void {
    for (const [reader, filter] of this.#readers) if (passes(filter, event)) reader.push(event);
  }

  /** Keeps an event for readers that begin to listen later. */
  tellFirst(event: BrokerEvent): void {
    this.#first.push(event);
  }

  read(filter: EventFilter): AsyncIterableIterator<BrokerEvent> {
    const reader: EventQueue = new EventQueue(() => this.#readers.delete(reader));
    this.#readers.set(reader, filter);
    for (const event of this.#first) if (passes(filter, event)) reader.push(event);
    return reader;
  }

  close(): void {
    for (const reader of this.#readers.keys()) reader.end();
    this.#readers.clear();
  }
}

function passes(filter: EventFilter, event: BrokerEvent): boolean {
  if (filter.events !== undefined && !filter.events.includes(event.event)) return false;
  return filter.queue === undefined || !("queue" in event) || event.queue === filter.queue;
}

/** Where the job of a fact was; it may be forgotten by now. */
function queueOfFact(fact: Fact, engine: Engine): string {
  if ("queue" in fact && fact.queue !== undefined) return fact.queue;
  return "id" in fact ? (engine.queueOf(fact.id) ?? "") : "";
}

/** The event that a fact is for those outside; undefined: none. The engine has just told it. */
export function eventOf(fact: Fact, engine: Engine): BrokerEvent | undefined {
  const { at } = fact;
  const queue = queueOfFact(fact, engine);
  switch (fact.fact) {
    case "job":
      return { at, event: "added", queue: fact.job.queue, id: idOf(fact.job.id) };
    case "leased": {
      const attempt = engine.queries.job(fact.id)?.attempt ?? 0;
      return { at, event: "leased", queue, id: idOf(fact.id), worker: fact.worker, attempt };
    }
    case "retried":
      return {
        at,
        event: "retried",
        queue,
        id: idOf(fact.id),
        attempt: fact.attempt,
        until: fact.until,
        ...(fact.error === undefined ? {} : { error: fact.error }),
      };
    case "returned":
      return { at, event: "returned", queue, id: idOf(fact.id) };
    case "step":
      return isOwnResult(fact) ? undefined : stepEvent(fact, queue);
    case "suspended":
    case "signalled":
      return stepEvent(fact, queue);
    case "dead": {
      const error = fact.error ?? fact.reason;
      const dlq = String(engine.queueConfig(queue).dlq);
      return { at, event: "dead", queue, id: idOf(fact.id), dlq, error };
    }
    case "ended":
      return { event: "ended", ...endOf(fact, queue) };
    case "group-ended":
      // Told with the end: a group is not remembered for long after it.
      return {
        at,
        event: "group-ended",
        queue: queueOfGroup(fact.name),
        group: fact.name,
        members: groupInfo(fact.name, engine).members,
      };
    case "queue":
      return { at, event: "queue", queue: fact.name };
    case "queue-deleted":
      return { at, event: "queue-deleted", queue: fact.name };
    case "schedule":
    case "schedule-deleted":
    case "ticked":
      return scheduleEvent(fact);
    case "gate":
      return { at, event: "gate", gate: fact.key };
    case "cooled":
      return { at, event: "cooled", gate: fact.key, until: fact.until, reason: fact.reason };
    default:
      return undefined;
  }
}

type ScheduleFact = Extract<Fact, { fact: "schedule" | "schedule-deleted" | "ticked" }>;

function scheduleEvent(fact: ScheduleFact): BrokerEvent {
  const { at, key } = fact;
  const of = { at, queue: queueOfKey(key), schedule: nameOfKey(key) };
  if (fact.fact === "schedule") {
    return { ...of, event: "schedule", paused: fact.schedule.pausedBy !== "" };
  }
  if (fact.fact === "schedule-deleted") return { ...of, event: "schedule-deleted" };
  const { tick, outcome, job, error, after } = fact;
  if (outcome === "added") return { ...of, event: "ticked", tick, id: idOf(job!) };
  if (outcome === "held") return { ...of, event: "tick-held", tick };
  return {
    ...of,
    event: "tick-skipped",
    tick,
    reason: outcome,
    ...(error === undefined ? {} : { error }),
    ...(after === undefined ? {} : { after }),
  };
}

function stepEvent(
  fact: Extract<Fact, { fact: "step" | "suspended" | "signalled" }>,
  queue: string,
): BrokerEvent {
  const of = { at: fact.at, queue, id: idOf(fact.id), name: fact.name };
  if (fact.fact === "signalled") return { ...of, event: "signalled" };
  const { occurrence, kind } = fact;
  if (fact.fact === "step") return { ...of, event: "step", occurrence, kind };
  const { until, error } = fact;
  return {
    ...of,
    event: "suspended",
    occurrence,
    kind,
    ...(until === Number.POSITIVE_INFINITY ? {} : { until }),
    ...(error === undefined ? {} : { error }),
  };
}

export function groupInfo(group: string, engine: Engine): GroupInfo {
  const found = engine.queries.group(group);
  if (found === undefined) {
    const message = `there is no group ${JSON.stringify(group)}`;
    throw new SluiceError("GROUP_NOT_FOUND", message, { field: "group", value: group });
  }
  const members = found.members.map(({ id, ...rest }) => ({ id: idOf(id), ...rest }));
  return { id: group, ended: found.ended, members };
}

type Waited = NonNullable<Extract<Fact, { fact: "ended" }>["waited"]>;

function waitedOf({ gate, waitMs, maxWaitMs }: Waited): NonNullable<JobEnd["waited"]> {
  return { gate, wait: waitMs, maxWait: maxWaitMs };
}

/** How a job ended, as its fact tells it. */
function endOf(fact: Extract<Fact, { fact: "ended" }>, queue: string): JobEnd {
  const end: JobEnd = { id: idOf(fact.id), queue, state: endStateOf(fact.ending), at: fact.at };
  if (fact.error !== undefined) end.error = fact.error;
  const result = fact.result ?? fact.aside;
  if (result !== undefined) end.result = result as Uint8Array;
  if (fact.waited !== undefined) end.waited = waitedOf(fact.waited);
  return end;
}

/** Callers that wait for the end of a job or a group. They are answered once it is durable. */
export class Ends {
  readonly #engine: Engine;
  readonly #journal: Journal;
  readonly #chunks: Chunks;
  readonly #jobs = new Waiters<number, JobEnd>();
  readonly #groups = new Waiters<string, GroupInfo>();

  constructor(engine: Engine, journal: Journal, chunks: Chunks) {
    this.#engine = engine;
    this.#journal = journal;
    this.#chunks = chunks;
  }

  wait(job: number, signal: AbortSignal | undefined): Promise<JobEnd> {
    checkSignal(signal);
    const ended = this.#known(job);
    if (ended !== undefined) return this.#told(ended);
    return this.#jobs.wait(job, signal);
  }

  /** Its result is read, which may have paged out. */
  async #told(ended: Promise<JobEnd>): Promise<JobEnd> {
    const end = await ended;
    await this.#journal.durable();
    return end;
  }

  waitGroup(name: string, signal: AbortSignal | undefined): Promise<GroupInfo> {
    checkSignal(signal);
    const info = groupInfo(name, this.#engine);
    if (info.ended) return this.#journal.durable().then(() => info);
    return this.#groups.wait(name, signal);
  }

  /** A job that has ended and is kept, or is in a dead letter queue. */
  #known(job: number): Promise<JobEnd> | undefined {
    const view = this.#engine.queries.job(job);
    if (view === undefined) {
      // Known by its number, but no longer kept: `why` says which of the two it is.
      this.#engine.queries.why(job, 0);
      return undefined;
    }
    const id = idOf(job);
    const { dead, state } = view;
    if (!hasEnded(state)) {
      if (dead === undefined) return undefined;
      const end: JobEnd = { id, queue: dead.origin, state: "dead", at: dead.at };
      return Promise.resolve(view.error === undefined ? end : { ...end, error: view.error });
    }
    const end: JobEnd = { id, queue: view.queue, state, at: view.at! };
    if (view.error !== undefined) end.error = view.error;
    if (view.waited !== undefined) end.waited = waitedOf(view.waited);
    return withResult(end, view.result, this.#chunks);
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

  /** Removes the callers that wait for this, and returns how to answer them; undefined: none. */
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
