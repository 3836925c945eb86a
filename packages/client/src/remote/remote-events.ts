import { type BrokerEvent, EventQueue } from "@sluice/protocol";

/** What a server tells, for one reader. */
export class RemoteEvents extends EventQueue {
  /** Asks the server for them, which hears of it once there is a connection. */
  ask: () => void = () => {};
  isHeard = false;

  tell(events: readonly BrokerEvent[]): void {
    for (const event of events) this.push(event);
  }
}
