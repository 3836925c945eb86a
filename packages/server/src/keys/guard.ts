/**
 * The Broker port with a check before every call. HTTP and the stream alike see a broker only
 * through it, so there is one place that decides who may do what; docs/operating.md has the table.
 * The check is made on each call, so a key that is revoked is refused at its next one.
 */
import {
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  boundCalls,
  type EventFilter,
  type StatsOptions,
} from "@sluice/protocol";
import { STEADY_CLOCK } from "@sluice/protocol/wire";
import { GuardedPlace } from "./guard-queues.ts";
import { Permit } from "./permit.ts";
import type { Principal } from "./principal.ts";
import { SeenEvents } from "./seen-events.ts";

export function guard(broker: Broker, principal: Principal): Broker {
  return new Guard(broker, new Permit(principal));
}

class Guard extends GuardedPlace implements Broker {
  readonly #broker: Broker;
  readonly #permit: Permit;

  constructor(broker: Broker, permit: Permit) {
    super(broker, permit);
    this.#broker = broker;
    this.#permit = permit;
  }

  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent> {
    this.#permit.enterValid();
    const events = this.#broker.events(filter);
    return new SeenEvents(events, this.#permit.principal, (event) => this.#isSeen(event));
  }

  #isSeen(event: BrokerEvent): boolean {
    // What was cut off the log concerns those who run the server.
    if (event.event === "torn") return this.#permit.canAll(["admin"]);
    // Of a gate, and of a failed log, all may know.
    return !("queue" in event) || this.#permit.sees(event.queue);
  }

  async stats(options: StatsOptions = {}): Promise<BrokerStats> {
    this.#permit.enterValid();
    const queues = (options.queues ?? []).filter((name) => this.#permit.sees(name));
    return this.#broker.stats({ ...options, queues });
  }

  /** The broker is the server's, not the caller's. */
  async close(): Promise<void> {}
}

boundCalls(Guard, { clockOf: () => STEADY_CLOCK });
