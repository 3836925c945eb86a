// Clients and a server over a network that is cut again and again. In the end the network is left
// alone until all jobs are finished, and the history is judged.

import { type LocalBroker, openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { Broker, LeasedJob, NewJob, SluiceError } from "@sluice/protocol";
import { Sessions } from "@sluice/server/stream";
import { ClientWorld, QUEUE } from "../client-world.ts";
import { SimNet } from "../sim-net.ts";
import type { WorldEnd } from "../world-end.ts";

const PRODUCERS = 2;
const CONSUMERS = 3;
const CREDITS = 8;
const TURNS = 4;
// Less than a server is away, and more than an answer takes.
const ADD_TIMEOUT_MS = 800;
// Ends are repeated for as long as their leases may last; the worlds are shorter.
const END_TIMEOUT_MS = 600_000;

// The two ends, which a planted bug replaces.
const ENDS = { connectBroker, Sessions };
export type Ends = typeof ENDS;

export interface StreamWorldOptions {
  readonly seed: number;
  readonly crashes?: boolean;
  // The server is away for longer than adds wait.
  readonly away?: boolean | undefined;
  readonly ends?: Partial<Ends> | undefined;
}

export function runStreamWorld(options: StreamWorldOptions): Promise<WorldEnd> {
  return new StreamWorld(options).run();
}

class StreamWorld extends ClientWorld {
  protected readonly ackShare = 0.8;
  readonly #crashes: boolean;
  readonly #isAway: boolean;
  readonly #net: SimNet;
  readonly #ends: Ends;
  readonly #clients: Broker[] = [];
  #log = new MemoryLog();
  #broker: LocalBroker | undefined;
  #sessions: Sessions<undefined> | undefined;

  constructor({ seed, crashes = false, away = false, ends }: StreamWorldOptions) {
    super(seed, TURNS);
    this.#crashes = crashes;
    this.#isAway = away;
    this.#ends = { ...ENDS, ...ends };
    this.#net = new SimNet(this.clock, this.random, (socket) =>
      this.#sessions!.accept(socket, undefined),
    );
  }

  protected async open(): Promise<void> {
    await this.#start();
    await this.#broker!.setQueue("q", QUEUE);
    const options = { ...this.streams(), dial: this.#net.dial, callTimeout: "1h" as const };
    for (let i = 0; i < PRODUCERS + CONSUMERS; i++) {
      const client = this.#ends.connectBroker("http://sim", options);
      this.#clients.push(await this.time.during(client));
    }
    for (const [i, client] of this.#clients.slice(PRODUCERS).entries()) {
      await this.time.during(this.consume(client, "q", `w${i}`, CREDITS));
    }
  }

  protected produce(): void {
    for (const client of this.#clients.slice(0, PRODUCERS)) {
      const names = this.names(this.random.between(0, 4));
      const jobs = names.map((name) => ({ payload: new TextEncoder().encode(name) }));
      if (names.length > 0) this.#send(client, names, jobs, undefined);
    }
  }

  protected async disturb(): Promise<void> {
    if (this.random.chance(0.35)) this.#net.cutSome(0.5);
    if (this.random.chance(this.#isAway ? 0.2 : 0.05)) {
      this.#net.isDown = true;
      if (this.#isAway) this.#net.cutSome(1);
    } else if (this.random.chance(this.#isAway ? 0.12 : 0.3)) this.#net.isDown = false;
    if (this.#crashes && this.random.chance(0.06)) await this.#crash();
  }

  protected heal(): void {
    this.#net.isDown = false;
  }

  protected async judge(): Promise<void> {
    this.history.judge([(await this.#broker!.queue("q")).stats]);
  }

  // An add that timed out may have left a job that no client knows yet.
  protected async isSettled(): Promise<boolean> {
    if (!this.isDone) return false;
    if (!this.#isAway) return true;
    const { waiting, running, delayed } = (await this.#broker!.queue("q")).stats;
    return waiting + running + delayed === 0;
  }

  protected async close(): Promise<void> {
    for (const client of this.#clients) await this.time.during(client.close());
    this.#sessions!.close();
    await this.#broker!.close();
  }

  async #start(): Promise<void> {
    const { clock } = this;
    const broker = await openBroker({ log: this.#log, clock, leaseSecret: new Uint8Array(16) });
    this.#broker = broker;
    this.#sessions = new this.#ends.Sessions<undefined>({
      open: async () => ({ broker, isNode: false }),
      server: "sim",
      resumeMs: 2000,
      heartbeatMs: 3000,
      handshakeMs: 5000,
      clock,
      defer: setImmediate,
    });
  }

  // The process ends without a word; another one opens the same log.
  async #crash(): Promise<void> {
    await this.#log.close();
    this.#net.cutSome(1);
    this.#sessions!.close();
    await this.time.turns();
    this.#log = new MemoryLog({ after: this.#log });
    await this.#start();
  }

  #send(
    client: Broker,
    names: readonly string[],
    jobs: readonly NewJob[],
    operationId: string | undefined,
  ): void {
    const timeout = this.#isAway ? ADD_TIMEOUT_MS : undefined;
    this.history.adding(names.length);
    client.add("q", jobs, { timeout, operationId }).then(
      (outcomes) => this.history.added(names, outcomes),
      (error: SluiceError) => {
        if (timeout === undefined) return this.history.fail(`an add was refused: ${error}`);
        this.history.refused(names, error, operationId !== undefined);
        const id = error.details.operationId ?? operationId;
        // A repeated call gets the first answer, whenever it is repeated.
        if (id === undefined || !this.random.chance(0.5)) return;
        this.#send(client, names, jobs, id as string);
      },
    );
  }

  protected endJob(client: Broker, { id, lease }: LeasedJob, isAck: boolean): void {
    const options = { timeout: END_TIMEOUT_MS };
    const end = isAck
      ? client.ack([{ lease }], options)
      : client.nack([{ lease, error: "no" }], options);
    end.then(
      ([outcome]) => this.history.ended(id, outcome, isAck),
      (error) => this.history.fail(`an end was refused: ${error}`),
    );
  }
}
