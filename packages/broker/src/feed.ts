import { type Engine, endStateOf, type Fact } from "@sluice/engine";
import {
  type BrokerEvent,
  type EventFilter,
  EventQueue,
  type GroupInfo,
  type JobEnd,
  queueOfGroup,
  SluiceError,
} from "@sluice/protocol";
import { idOf } from "./job-ids.ts";

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

  /** Tells those who begin to listen. */
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
      const attempt = engine.job(fact.id)?.attempt ?? 0;
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
    case "gate":
      return { at, event: "gate", gate: fact.key };
    case "cooled":
      return { at, event: "cooled", gate: fact.key, until: fact.until, reason: fact.reason };
    default:
      return undefined;
  }
}

export function groupInfo(group: string, engine: Engine): GroupInfo {
  const found = engine.group(group);
  if (found === undefined) {
    const message = `there is no group ${JSON.stringify(group)}`;
    throw new SluiceError("GROUP_NOT_FOUND", message, { field: "group", value: group });
  }
  const members = found.members.map(({ id, ...rest }) => ({ id: idOf(id), ...rest }));
  return { id: group, ended: found.ended, members };
}

/** How a job ended, as its fact tells it. */
export function endOf(fact: Extract<Fact, { fact: "ended" }>, queue: string): JobEnd {
  const end: JobEnd = { id: idOf(fact.id), queue, state: endStateOf(fact.ending), at: fact.at };
  if (fact.error !== undefined) end.error = fact.error;
  if (fact.result !== undefined) end.result = fact.result as Uint8Array;
  if (fact.waited !== undefined) end.waited = fact.waited;
  return end;
}
