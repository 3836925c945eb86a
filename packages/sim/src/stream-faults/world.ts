// Clients and a server over a network that is cut again and again. Each producer adds jobs and
// notes what was confirmed; each consumer ends what it gets, holds it for a while, or forgets it.
// In the end the network is left alone until all jobs are finished, and the history is judged.

import { type LocalBroker, openBroker } from "@sluice/broker";
import { connectBroker as connect } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { Broker, Consumer, LeasedJob, NewJob, SluiceError } from "@sluice/protocol";
import { Sessions as ServerSessions } from "@sluice/server/stream";
import { type FaultWorld, Passing, settle } from "../fault-world.ts";
import { Random } from "../random.ts";
import { SimClock } from "../sim-clock.ts";
import { ClientHistory } from "./client-history.ts";
import { SimNet } from "./sim-net.ts";

const START = 1_700_000_000_000;
const STEPS = 25;
const STEP_MS = 400;
const PRODUCERS = 2;
const CONSUMERS = 3;
const CREDITS = 8;
const TURNS = 4;
// Leases outlive short cuts, and those that were forgotten come back before the end.
const QUEUE = {
  lease: 20_000,
  retry: { attempts: 1000, min: 10, max: 50 },
  results: { jobs: 100_000, ttl: 3_600_000 },
} as const;
const QUIET_STEPS_MAX = 2000;
// Less than a server is away, and more than an answer takes.
const ADD_TIMEOUT_MS = 800;
// Ends are repeated for as long as their leases may last; the worlds are shorter.
const END_TIMEOUT_MS = 600_000;

// The two ends, which a planted bug replaces.
export interface Ends {
  readonly connectBroker: typeof connect;
  readonly Sessions: typeof ServerSessions;
}

export interface StreamWorldOptions {
  readonly seed: number;
  readonly crashes?: boolean;
  // The server is away for longer than adds wait.
  readonly away?: boolean | undefined;
  readonly ends?: Partial<Ends>;
}

export async function runStreamWorld(options: StreamWorldOptions): Promise<ClientHistory> {
  const world = new StreamWorld(options);
  await world.open();
  await world.run();
  return world.history;
}

class StreamWorld implements FaultWorld {
  readonly history: ClientHistory;
  readonly #options: StreamWorldOptions;
  readonly #random: Random;
  readonly #clock = new SimClock(START);
  readonly time = new Passing(this.#clock, TURNS);
  readonly #net: SimNet;
  readonly #ends: Ends;
  readonly #clients: Broker[] = [];
  #log = new MemoryLog();
  #broker: LocalBroker | undefined;
  #sessions: ServerSessions<undefined> | undefined;
  #payloads = 0;

  constructor(options: StreamWorldOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#ends = { connectBroker: connect, Sessions: ServerSessions, ...options.ends };
    this.history = new ClientHistory(options.seed);
    this.#net = new SimNet(this.#clock, this.#random, (socket) =>
      this.#sessions!.accept(socket, undefined),
    );
  }

  async open(): Promise<void> {
    await this.#start();
    await this.#broker!.setQueue("q", QUEUE);
    for (let i = 0; i < PRODUCERS + CONSUMERS; i++) {
      const client = this.time.during(
        this.#ends.connectBroker("http://sim", {
          dial: this.#net.dial,
          clock: this.#clock,
          random: () => this.#random.between(0, 2 ** 30) / 2 ** 30,
          defer: setImmediate,
          callTimeout: "1h",
        }),
      );
      this.#clients.push(await client);
    }
    for (const [i, client] of this.#clients.slice(PRODUCERS).entries()) {
      await this.time.during(this.#consume(client, `w${i}`));
    }
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      for (const client of this.#clients.slice(0, PRODUCERS)) this.#add(client);
      // So that what is cut off is somewhere between the first byte and the answer.
      await this.time.pass(this.#random.between(0, 80));
      if (this.#random.chance(0.35)) this.#net.cutSome(0.5);
      const isAway = this.#options.away === true;
      if (this.#random.chance(isAway ? 0.2 : 0.05)) this.#leave(isAway);
      else if (this.#random.chance(isAway ? 0.12 : 0.3)) this.#net.isDown = false;
      if (this.#options.crashes === true && this.#random.chance(0.06)) await this.#crash();
      await this.time.pass(this.#random.between(1, STEP_MS));
    }
    await settle(this, STEP_MS, QUIET_STEPS_MAX);
  }

  heal(): void {
    this.#net.isDown = false;
  }

  async judge(): Promise<void> {
    this.history.judge((await this.#broker!.queue("q")).stats);
  }

  // An add that timed out may have left a job that nobody has heard of yet.
  async isSettled(): Promise<boolean> {
    if (!this.history.isSettled) return false;
    if (this.#options.away !== true) return true;
    const { waiting, running, delayed } = (await this.#broker!.queue("q")).stats;
    return waiting + running + delayed === 0;
  }

  #leave(isAway: boolean): void {
    this.#net.isDown = true;
    if (isAway) this.#net.cutSome(1);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await this.time.during(client.close());
    this.#sessions!.close();
    await this.#broker!.close();
  }

  async #start(): Promise<void> {
    const broker = await openBroker({
      log: this.#log,
      clock: this.#clock,
      leaseSecret: new Uint8Array(16),
    });
    this.#broker = broker;
    this.#sessions = new this.#ends.Sessions<undefined>({
      open: async () => ({ broker, isNode: false }),
      server: "sim",
      resumeMs: 2000,
      heartbeatMs: 3000,
      handshakeMs: 5000,
      clock: this.#clock,
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

  #add(client: Broker): void {
    const count = this.#random.between(0, 4);
    if (count === 0) return;
    const names = Array.from({ length: count }, () => `p${this.#payloads++}`);
    const jobs = names.map((name) => ({ payload: new TextEncoder().encode(name) }));
    this.#send(client, names, jobs, undefined);
  }

  #send(
    client: Broker,
    names: readonly string[],
    jobs: readonly NewJob[],
    operationId: string | undefined,
  ): void {
    const timeoutMs = this.#options.away === true ? ADD_TIMEOUT_MS : undefined;
    this.history.adding(names.length);
    client.add("q", jobs, { timeoutMs, operationId }).then(
      (outcomes) => this.history.added(names, outcomes),
      (error: SluiceError) => {
        if (timeoutMs === undefined) return this.history.fail(`an add was refused: ${error}`);
        this.history.refused(names, error, operationId !== undefined);
        const id = error.details.operationId ?? operationId;
        // Whoever repeats it gets the first answer, whenever that is.
        if (id === undefined || !this.#random.chance(0.5)) return;
        this.#send(client, names, jobs, id as string);
      },
    );
  }

  async #consume(client: Broker, worker: string): Promise<void> {
    let granted = CREDITS;
    let consumer: Consumer | undefined;
    const options = { worker, credits: CREDITS };
    consumer = await client.consume("q", options, (jobs) => {
      granted -= jobs.length;
      if (granted < 0) this.history.fail(`${worker} got ${-granted} jobs beyond its credits`);
      for (const job of jobs) this.#work(client, job);
      // Each job that was taken makes room for another, some time later.
      this.#clock.at(this.#clock.now() + this.#random.between(1, 300), () => {
        granted += jobs.length;
        consumer?.addCredits(jobs.length);
      });
    });
    void consumer.over.then(() => this.history.ended(worker));
  }

  #work(client: Broker, job: LeasedJob): void {
    this.history.delivered(job);
    if (this.#random.chance(0.05)) return;
    const isAck = this.#random.chance(0.8);
    this.#clock.at(this.#clock.now() + this.#random.between(0, 1500), () => {
      const { lease } = job;
      const options = { timeoutMs: END_TIMEOUT_MS };
      const end = isAck
        ? client.ack([{ lease }], options)
        : client.nack([{ lease, error: "no" }], options);
      end.then(
        ([outcome]) => {
          if (outcome?.error?.code === "ALREADY_FINISHED") this.history.over(job.id);
          else if (isAck && outcome?.ok === true) this.history.finished(job.id);
        },
        (error) => this.history.fail(`an end was refused: ${error}`),
      );
    });
  }
}
