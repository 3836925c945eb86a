// A plain JetStream publisher beside the cluster, on streams with three copies of their own: how
// long NATS alone takes to recover, in the same run.

import { type JetStreamClient, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connectNats } from "@sluice/log/nats";
import type { NatsServers } from "@sluice/log/testing";
import { wait } from "../cluster-load.ts";

const STREAMS = 6;
const PAUSE_MS = 100;
const ANSWER_MS = 500;
const LEADER_MS = 10_000;
const LOOK_MS = 500;

interface Pulse {
  readonly subject: string;
  last: number;
  longestMs: number;
}

export class PlainPublisher {
  readonly #connection: Awaited<ReturnType<typeof connectNats>>;
  readonly #client: JetStreamClient;
  readonly #pulses: readonly Pulse[];
  #loops: Promise<void>[] = [];
  #isOver = false;

  private constructor(connection: Awaited<ReturnType<typeof connectNats>>) {
    this.#connection = connection;
    this.#client = jetstream(connection);
    this.#pulses = Array.from({ length: STREAMS }, (_, i) => {
      return { subject: `plain.${i}`, last: 0, longestMs: 0 };
    });
  }

  static async start(servers: readonly string[]): Promise<PlainPublisher> {
    const connection = await connectNats(servers);
    const manager = await jetstreamManager(connection);
    for (let i = 0; i < STREAMS; i++) {
      await manager.streams.add({ name: `plain-${i}`, subjects: [`plain.${i}`], num_replicas: 3 });
    }
    const publisher = new PlainPublisher(connection);
    publisher.mark();
    publisher.#loops = publisher.#pulses.map((pulse) => publisher.#publish(pulse));
    return publisher;
  }

  // Gives each stream the leader that a partition's has, so that a fault of that server hits both.
  async followLeaders(nats: NatsServers): Promise<void> {
    await Promise.all(
      this.#pulses.map(async (_, i) => {
        const leader = await nats.streamLeader(`sluice-${i}`);
        if (leader === undefined) return;
        const request = { placement: { preferred: nats.nameOf(leader) } };
        const endAt = Date.now() + LEADER_MS;
        while ((await nats.streamLeader(`plain-${i}`)) !== leader && Date.now() < endAt) {
          await this.#connection
            .request(`$JS.API.STREAM.LEADER.STEPDOWN.plain-${i}`, JSON.stringify(request))
            .catch(() => {});
          await wait(LOOK_MS);
        }
      }),
    );
  }

  mark(): void {
    for (const pulse of this.#pulses)
      Object.assign(pulse, { last: performance.now(), longestMs: 0 });
  }

  // The longest since the mark in which any of the streams confirmed nothing.
  silenceMs(): number {
    const now = performance.now();
    return Math.round(
      Math.max(...this.#pulses.map(({ last, longestMs }) => Math.max(longestMs, now - last))),
    );
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    await this.#connection.close();
  }

  async #publish(pulse: Pulse): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#client.publish(pulse.subject, "x", { timeout: ANSWER_MS });
        const now = performance.now();
        pulse.longestMs = Math.max(pulse.longestMs, now - pulse.last);
        pulse.last = now;
      } catch {
        // Not confirmed: it is published again.
      }
      await wait(PAUSE_MS);
    }
  }
}
