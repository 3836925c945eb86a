import type { NatsConnection, Subscription } from "@nats-io/transport-node";
import { flushed } from "@sluice/log/nats";
import { SluiceError } from "@sluice/protocol";
import type { Heartbeats } from "./heartbeats.ts";

/** Plain messages of NATS on one subject: nothing is stored, and no leader takes part. */
export class NatsHeartbeats implements Heartbeats {
  readonly #connection: NatsConnection;
  readonly #subject: string;
  readonly #subscriptions = new Set<Subscription>();

  /** The connection stays the caller's. */
  constructor(connection: NatsConnection, cluster: string) {
    this.#connection = connection;
    this.#subject = `sluice.beat.${cluster}`;
  }

  async send(beat: string): Promise<void> {
    try {
      this.#connection.publish(this.#subject, beat);
    } catch (cause) {
      const message = "not connected to NATS; the heartbeat was not sent";
      throw new SluiceError("DISCONNECTED", message, {}, { cause });
    }
  }

  async listen(onBeat: (beat: string) => void): Promise<() => void> {
    const subscription = this.#connection.subscribe(this.#subject, {
      callback: (error, message) => {
        if (error === null) onBeat(message.string());
      },
    });
    this.#subscriptions.add(subscription);
    const stop = (): void => {
      subscription.unsubscribe();
      this.#subscriptions.delete(subscription);
    };
    try {
      // The server has it when it answers.
      await flushed(this.#connection);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  async close(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#subscriptions.clear();
  }
}
