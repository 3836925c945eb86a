// A plain JetStream publisher beside the cluster, on streams with three copies of their own: how
// long NATS alone takes to recover, in the same run.

import { type JetStreamClient, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connectNats } from "@sluice/log/nats";
import type { NatsServers } from "@sluice/log/testing";
import { wait } from "../cluster-load.ts";

const STREAMS = 6;
const PAUSE_MS = 100;
const ANSWER_MS = 500;
const LEADER_MS = 30_000;
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
  // Throws if a stream keeps another one: nothing would be compared.
  async followLeaders(nats: NatsServers): Promise<void> {
    await Promise.all(this.#pulses.map((_, i) => this.#followLeader(nats, i)));
  }

  async #followLeader(nats: NatsServers, i: number): Promise<void> {
    const endAt = Date.now() + LEADER_MS;
    for (;;) {
      const wanted = await nats.streamLeader(`sluice-${i}`);
      const leader = await nats.streamLeader(`plain-${i}`);
      if (wanted !== undefined && wanted === leader) return;
      if (Date.now() > endAt) {
        throw new Error(`plain-${i} is led by server ${leader}, sluice-${i} by server ${wanted}`);
      }
      if (wanted !== undefined) {
        const request = { placement: { preferred: nats.nameOf(wanted) } };
        await this.#connection
          .request(`$JS.API.STREAM.LEADER.STEPDOWN.plain-${i}`, JSON.stringify(request))
          .catch(() => {});
      }
      await wait(LOOK_MS);
    }
  }

  // How many of the streams this server leads.
  async ledBy(nats: NatsServers, server: number): Promise<number> {
    const leaders = await Promise.all(this.#pulses.map((_, i) => nats.streamLeader(`plain-${i}`)));
    return leaders.filter((leader) => leader === server).length;
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
