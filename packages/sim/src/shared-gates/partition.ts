// One partition: a broker that dies and restarts, and its workers, which do not.

import type { LendAnswer, LendRequest, LocalBroker } from "@sluice/broker";
import type { Consumer, GateSettings, LeasedJob, NewJob } from "@sluice/protocol";
import type { Dispatch } from "@sluice/protocol/conformance";
import type { BrokerModule } from "../broker-faults/life.ts";
import type { Random } from "../random.ts";
import type { SimClock } from "../sim-clock.ts";
import type { Net, Station } from "./net.ts";
import { PartitionClock } from "./partition-clock.ts";
import { SlowLog } from "./slow-log.ts";

const QUEUE = {
  tiers: 3,
  lease: 8000,
  retry: { attempts: 1000, min: 1, max: 20 },
  capacity: { jobs: 100_000 },
  results: { jobs: 0, ttl: 0 },
} as const;
const ACK_RETRY_MS = 150;

export interface JobKind {
  readonly gates: readonly string[];
  readonly cost: number;
  readonly tier: number;
}

export interface PartitionOptions {
  readonly name: string;
  readonly others: readonly string[];
  readonly homeOf: (gate: string) => string;
  readonly module: BrokerModule;
  readonly logMs: number;
  readonly workMs: number;
  readonly credits: number;
  readonly aheadMs: number;
  readonly speed: number;
}

export class Partition implements Station {
  clock: PartitionClock;
  broker: LocalBroker | undefined;
  readonly options: PartitionOptions;
  readonly dispatches = new Map<string, Dispatch[]>();
  // The same jobs, from when a worker has one until it has worked on it.
  readonly works = new Map<string, Dispatch[]>();
  readonly waiting = new Set<number>();
  finished = 0;
  #log: SlowLog | undefined;
  #stalledUntil = 0;
  #died = Promise.withResolvers<void>();
  #jobs = 0;
  readonly #world: SimClock;
  readonly #random: Random;
  readonly #net: Net;

  constructor(world: SimClock, random: Random, net: Net, options: PartitionOptions) {
    this.#world = world;
    this.#random = random;
    this.#net = net;
    this.options = options;
    this.clock = this.#newClock();
    net.stations.set(options.name, this);
  }

  get isUp(): boolean {
    return this.broker !== undefined;
  }

  lend(request: LendRequest): Promise<LendAnswer> {
    return this.broker!.lend(request);
  }

  #newClock(): PartitionClock {
    return new PartitionClock(this.#world, this.options.aheadMs, this.options.speed);
  }

  // Ends with the process when that dies before it is open.
  open(): Promise<void> {
    this.#died = Promise.withResolvers();
    return Promise.race([this.#open(), this.#died.promise]);
  }

  async #open(): Promise<void> {
    const { name, others, homeOf, module, logMs } = this.options;
    const delayMs = (): number => {
      return Math.max(this.#random.between(0, logMs), this.#stalledUntil - this.#world.now());
    };
    const log = new SlowLog(this.#world, delayMs, this.#log);
    this.#log = log;
    const { clock } = this;
    const lend = (home: string, request: LendRequest): Promise<LendAnswer> =>
      this.#net.call(name, clock, home, request);
    const homes = { name, others, homeOf, lend };
    const broker = await module.openBroker({ log, clock, homes, leaseSecret: new Uint8Array(16) });
    if (clock !== this.clock) return;
    this.broker = broker;
    await broker.setQueue("q", QUEUE);
    let consumer: Consumer | undefined;
    consumer = await broker.consume(
      "q",
      { worker: `w${name}`, credits: this.options.credits },
      (jobs) => {
        for (const job of jobs) this.#work(job);
        this.#later(() => consumer?.addCredits(jobs.length));
      },
    );
  }

  setGates(gates: Readonly<Record<string, GateSettings>>): Promise<unknown> {
    return Promise.all(
      Object.entries(gates).map(([key, config]) => this.broker!.setGate(key, config)),
    );
  }

  // Nothing becomes durable for so long, as when a log's replicas elect a leader.
  stallLog(ms: number): void {
    this.#stalledUntil = this.#world.now() + ms;
  }

  // The process is gone; `isZombie`: it does not know yet, and can no longer write.
  async crash(isZombie: boolean): Promise<void> {
    this.broker = undefined;
    this.#died.resolve();
    if (!isZombie) this.clock.kill();
    this.clock = this.#newClock();
    await this.#log!.kill();
  }

  async add(kinds: readonly JobKind[]): Promise<void> {
    const jobs = kinds.map((kind): NewJob => {
      const id = this.#jobs++;
      this.waiting.add(id);
      const payload = new TextEncoder().encode(JSON.stringify({ id, ...kind }));
      const fairnessKey = `lane-${id % 3}`;
      return { payload, gates: kind.gates, cost: kind.cost, priority: kind.tier, fairnessKey };
    });
    await this.broker!.add("q", jobs);
  }

  #later(act: () => void): void {
    const ms = this.#random.between(0, this.options.workMs);
    this.#world.at(this.#world.now() + ms, act);
  }

  #work(job: LeasedJob): void {
    const { id, gates, cost, tier } = JSON.parse(new TextDecoder().decode(job.payload));
    // A clock that was ahead before a restart makes leases that seem to begin later.
    const at = Math.min(this.#world.now(), this.clock.trueTime(job.expiresAt - QUEUE.lease));
    // A job whose end was said to a process that died is taken back when its lease is over.
    const dispatch: Dispatch = { at, cost, tier, endedAt: this.clock.trueTime(job.expiresAt) };
    const work: Dispatch = { at: this.#world.now(), cost, tier, endedAt: Number.POSITIVE_INFINITY };
    for (const gate of gates) {
      note(this.dispatches, gate, dispatch);
      note(this.works, gate, work);
    }
    this.#later(() => {
      work.endedAt = this.#world.now();
      this.#ack(job, id, dispatch);
    });
  }

  #ack(job: LeasedJob, id: number, dispatch: Dispatch): void {
    const again = (): void => {
      this.#world.at(this.#world.now() + ACK_RETRY_MS, () => this.#ack(job, id, dispatch));
    };
    const { broker, clock } = this;
    if (broker === undefined || clock.isFrozen) return again();
    const at = this.#world.now();
    broker.ack([{ lease: job.lease }]).then(([outcome]) => {
      const code = outcome?.error?.code;
      if (code !== undefined) return;
      dispatch.endedAt = at;
      this.waiting.delete(id);
      this.finished++;
    }, again);
  }
}

function note(of: Map<string, Dispatch[]>, gate: string, dispatch: Dispatch): void {
  const known = of.get(gate);
  if (known === undefined) of.set(gate, [dispatch]);
  else known.push(dispatch);
}
