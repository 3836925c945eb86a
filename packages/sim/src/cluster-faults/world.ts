// Routers over the partitions of a cluster that move at any moment: one router in the process that
// serves them, two behind a network that is cut. Producers add jobs of many keys in one call, some
// of them twice under one name, some as groups; consumers and pollers end what they get, several at
// once. In the end all is left alone until the jobs are finished, and the history is judged.

import {
  ClusterRouter as AnyRouter,
  MemoryDirectory,
  RemotePartitions,
  ServedPartitions,
} from "@sluice/cluster";
import type { Broker, Consumer, LeasedJob, NewJob, QueueInfo, SluiceError } from "@sluice/protocol";
import { type FaultWorld, Passing, settle } from "../fault-world.ts";
import { Random } from "../random.ts";
import { SimClock } from "../sim-clock.ts";
import { ClientHistory } from "../stream-faults/client-history.ts";
import { SimNet } from "../stream-faults/sim-net.ts";
import { Hosts } from "./hosts.ts";

const START = 1_700_000_000_000;
const PARTITIONS = 4;
const STEPS = 25;
const STEP_MS = 400;
const CREDITS_MAX = 5;
const KEYS = 6;
const TURNS = 6;
const QUIET_STEPS_MAX = 2000;
// One queue is spread, so that its jobs are in several partitions; the other is at home.
const QUEUES = { many: { spread: 3 }, one: {} } as const;
// Leases outlive short cuts, and those that were forgotten come back before the end.
const QUEUE = {
  lease: 20_000,
  retry: { attempts: 1000, min: 10, max: 50 },
  results: { jobs: 100_000, ttl: 3_600_000 },
} as const;

// What a planted bug replaces.
export interface ClusterCode {
  readonly ClusterRouter: typeof AnyRouter;
  readonly RemotePartitions: typeof RemotePartitions;
  readonly ServedPartitions: typeof ServedPartitions;
}

export interface ClusterWorldOptions {
  readonly seed: number;
  readonly code?: ClusterCode;
}

export async function runClusterWorld(options: ClusterWorldOptions): Promise<ClientHistory> {
  const world = new ClusterWorld(options);
  await world.open();
  await world.run();
  return world.history;
}

class ClusterWorld implements FaultWorld {
  readonly history: ClientHistory;
  readonly #random: Random;
  readonly #clock = new SimClock(START);
  readonly time = new Passing(this.#clock, TURNS);
  readonly #directory = new MemoryDirectory(PARTITIONS);
  readonly #code: ClusterCode;
  readonly #served: ServedPartitions;
  readonly #hosts: Hosts;
  readonly #nets: SimNet[];
  readonly #routers: Broker[] = [];
  // Jobs that wait to be acked together with others, of each router.
  readonly #unacked = new Map<Broker, LeasedJob[]>();
  #names = 0;
  #groups = 0;
  #waitingGroups = 0;

  constructor({ seed, code }: ClusterWorldOptions) {
    this.#random = new Random(seed);
    this.#code = code ?? { ClusterRouter: AnyRouter, RemotePartitions, ServedPartitions };
    this.history = new ClientHistory(seed);
    this.#served = new this.#code.ServedPartitions(this.#streams());
    this.#hosts = new Hosts(this.#clock, this.#served, PARTITIONS);
    this.#nets = Array.from(
      { length: PARTITIONS },
      (_, partition) =>
        new SimNet(this.#clock, this.#random, (socket) => this.#served.accept(partition, socket)),
    );
  }

  #streams() {
    return {
      clock: this.#clock,
      defer: setImmediate,
      random: () => this.#random.between(0, 2 ** 30) / 2 ** 30,
    };
  }

  #remote(): RemotePartitions {
    const dial = (partition: number) => this.#nets[partition]!.dial();
    return new this.#code.RemotePartitions({ ...this.#streams(), dial });
  }

  async open(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) await this.#hosts.open(partition);
    for (const partitions of [this.#served, this.#remote(), this.#remote()]) {
      const parts = { directory: this.#directory, partitions, clock: this.#clock };
      const router = new this.#code.ClusterRouter(parts);
      this.#routers.push(router);
      this.#unacked.set(router, []);
    }
    const [first] = this.#routers;
    for (const [queue, options] of Object.entries(QUEUES)) {
      await this.time.during(first!.setQueue(queue, { ...QUEUE, ...options }));
    }
    for (const [i, router] of this.#routers.entries()) {
      for (const queue of Object.keys(QUEUES)) {
        await this.time.during(this.#consume(router, queue, `${queue}-${i}`));
      }
    }
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      for (const router of this.#routers) this.#add(router);
      if (this.#random.chance(0.5)) this.#poll(this.#random.pick(this.#routers));
      await this.time.pass(this.#random.between(0, 80));
      await this.#disturb();
      await this.time.pass(this.#random.between(1, STEP_MS));
    }
    await settle(this, STEP_MS, QUIET_STEPS_MAX);
  }

  async heal(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (!this.#hosts.isUp(partition)) await this.#hosts.open(partition);
    }
  }

  async isSettled(): Promise<boolean> {
    return this.#isSettled;
  }

  get #isSettled(): boolean {
    return this.history.isSettled && this.#waitingGroups === 0;
  }

  async close(): Promise<void> {
    for (const router of this.#routers) await this.time.during(router.close());
    await this.#hosts.close();
  }

  async judge(): Promise<void> {
    if (this.#waitingGroups > 0) this.history.fail(`${this.#waitingGroups} groups never ended`);
    const [first] = this.#routers;
    const stats: QueueInfo[] = [];
    for (const queue of Object.keys(QUEUES))
      stats.push(await this.time.during(first!.queue(queue)));
    const sum = (field: "added" | "waiting" | "running" | "delayed"): number =>
      stats.reduce((total, info) => total + info.stats[field], 0);
    this.history.judge({
      ...stats[0]!.stats,
      added: sum("added"),
      waiting: sum("waiting"),
      running: sum("running"),
      delayed: sum("delayed"),
    });
  }

  // Connections are cut, and partitions leave their owner or find one.
  async #disturb(): Promise<void> {
    for (const net of this.#nets) if (this.#random.chance(0.2)) net.cutSome(0.5);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (!this.#hosts.isUp(partition)) {
        if (this.#random.chance(0.6)) await this.#hosts.open(partition);
      } else if (this.#random.chance(0.12)) {
        const how = this.#random.pick(["close", "crash", "fenced"] as const);
        await this.#hosts.leave(partition, how);
        if (this.#random.chance(0.3)) await this.#hosts.open(partition);
      }
    }
  }

  #add(router: Broker): void {
    const count = this.#random.between(0, 5);
    if (count === 0) return;
    const names = Array.from({ length: count }, () => `p${this.#names++}`);
    const group = this.#random.chance(0.3) ? { group: `g${this.#groups++}` } : {};
    const jobs = names.map(
      (name): NewJob => ({
        payload: new TextEncoder().encode(name),
        fairnessKey: `k${this.#random.below(KEYS)}`,
        ...group,
      }),
    );
    const queue = this.#random.chance(0.7) ? "many" : "one";
    const options = { operationId: `op ${names[0]}` };
    this.history.adding(count);
    const refused = (error: unknown): void => this.history.fail(`an add was refused: ${error}`);
    const add = router.add(queue, jobs, options);
    add.then((outcomes) => this.history.added(names, outcomes), refused);
    if (group.group !== undefined) {
      void this.#awaitGroup(this.#random.pick(this.#routers), `${queue}/${group.group}`, names);
    }
    if (!this.#random.chance(0.3)) return;
    // Somebody who has not heard the answer asks again, here or elsewhere.
    const again = this.#random.pick(this.#routers).add(queue, jobs, options);
    Promise.all([add, again]).then(([first, second]) => {
      const same = JSON.stringify(first) === JSON.stringify(second);
      if (!same) this.history.fail(`the add of ${names[0]} was answered in two ways`);
    }, refused);
  }

  // Somebody waits before all members are there: they must be there when the group has ended.
  async #awaitGroup(router: Broker, group: string, names: readonly string[]): Promise<void> {
    this.#waitingGroups++;
    for (;;) {
      try {
        const { members } = await router.groupEnded(group);
        const ended = members.filter(({ state }) => state === "finished");
        if (ended.length !== names.length) {
          this.history.fail(`${group} ended with ${ended.length} of ${names.length} members`);
        }
        this.#waitingGroups--;
        return;
      } catch (error) {
        // Not even its first member is there.
        if ((error as SluiceError).code !== "GROUP_NOT_FOUND") {
          return this.history.fail(`waiting for ${group} was refused: ${error}`);
        }
      }
      await new Promise<void>((resolve) => this.#clock.at(this.#clock.now() + 20, resolve));
    }
  }

  async #consume(router: Broker, queue: string, worker: string): Promise<void> {
    const credits = this.#random.between(1, CREDITS_MAX);
    let granted: number = credits;
    let consumer: Consumer | undefined;
    consumer = await router.consume(queue, { worker, credits }, (jobs) => {
      granted -= jobs.length;
      if (granted < 0) this.history.fail(`${worker} got ${-granted} jobs beyond its credits`);
      for (const job of jobs) this.#work(router, job);
      // Each job that was taken makes room for another, some time later.
      this.#clock.at(this.#clock.now() + this.#random.between(1, 300), () => {
        granted += jobs.length;
        consumer?.addCredits(jobs.length);
      });
    });
    void consumer.over.then(() => {
      if (!this.#isSettled) this.history.fail(`${worker} was told that it is over`);
    });
  }

  #poll(router: Broker): void {
    const max = this.#random.between(1, 4);
    const waitMs = this.#random.pick([0, 300]);
    router.lease("many", { max, waitMs, worker: "poll" }).then(
      (jobs) => {
        if (jobs.length > max) this.history.fail(`a poll for ${max} got ${jobs.length}`);
        for (const job of jobs) this.#work(router, job);
      },
      (error) => this.history.fail(`a poll was refused: ${error}`),
    );
  }

  #work(router: Broker, job: LeasedJob): void {
    this.history.delivered(job);
    if (this.#random.chance(0.05)) return;
    const isAck = this.#random.chance(0.85);
    this.#clock.at(this.#clock.now() + this.#random.between(0, 1500), () => {
      if (!isAck) {
        router.nack([{ lease: job.lease, error: "no" }]).catch(() => {});
        return;
      }
      const unacked = this.#unacked.get(router)!;
      unacked.push(job);
      // Several at once, of whatever partitions they are; nobody waits for company for long.
      if (unacked.length >= 3) return this.#ack(router);
      this.#clock.at(this.#clock.now() + 100, () => this.#ack(router));
    });
  }

  #ack(router: Broker): void {
    const jobs = this.#unacked.get(router)!;
    if (jobs.length === 0) return;
    this.#unacked.set(router, []);
    router.ack(jobs.map(({ lease }) => ({ lease }))).then(
      (outcomes) => {
        for (const [i, job] of jobs.entries()) {
          if (outcomes[i]?.error?.code === "ALREADY_FINISHED") this.history.over(job.id);
          else if (outcomes[i]?.ok === true) this.history.finished(job.id);
        }
      },
      (error) => this.history.fail(`an ack was refused: ${error}`),
    );
  }
}
