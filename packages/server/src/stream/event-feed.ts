import type { Broker, BrokerEvent, EventFilter } from "@sluice/protocol";
import { type Channel, KIND, writeEvents } from "@sluice/protocol/wire";
import { BUFFERED_BYTES_MAX, EVENTS_AT_ONCE } from "../limits.ts";

/** The connection that the events go out by. */
export interface EventOutlet {
  readonly broker: Broker;
  readonly channel: Channel;
  readonly bufferedBytes: number;
  /** Calls back at the end of this turn of the event loop. */
  defer(callback: () => void): void;
  /** When the socket has room again. */
  drained(): Promise<void>;
}

/**
 * Tells a client what happens, until the broker closes or the client has heard enough. While the
 * client's socket is full nothing is taken from the broker, which cuts off a reader that falls far
 * behind.
 */
export async function tellEvents(
  session: EventOutlet,
  operation: number,
  filter: EventFilter,
  signal: AbortSignal,
): Promise<void> {
  const events = session.broker.events(filter);
  const leave = (): void => void events.return?.();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  let batch: BrokerEvent[] = [];
  const send = (): void => {
    if (batch.length === 0) return;
    const happened = batch;
    batch = [];
    session.channel.frame(KIND.happened, operation, (writer) => writeEvents(writer, happened));
  };
  try {
    for await (const event of events) {
      // What is there already comes in the same turn, and travels together.
      if (batch.push(event) === 1) session.defer(send);
      if (batch.length >= EVENTS_AT_ONCE) send();
      while (session.bufferedBytes >= BUFFERED_BYTES_MAX && !signal.aborted) {
        await session.drained();
      }
    }
  } finally {
    send();
    signal.removeEventListener("abort", leave);
  }
}
