// Routers over the partitions of a cluster that move at any moment: one router in the process that
// serves them, two behind a network that is cut. Producers add jobs of many keys in one call, some
// of them twice under one name, some as groups; consumers and pollers end what they get, several at
// once. In the end all is left alone until the jobs are finished, and the history is judged.

import {
  ClusterRouter,
  MemoryDirectory,
  RemotePartitions,
  ServedPartitions,
} from "@sluice/cluster";
import type { Broker, LeasedJob, NewJob, QueueStats, SluiceError } from "@sluice/protocol";
import { ClientWorld, QUEUE } from "../client-world.ts";
import { SimNet } from "../sim-net.ts";
import type { WorldEnd } from "../world-end.ts";
import { Hosts } from "./hosts.ts";

const PARTITIONS = 4;
const CREDITS_MAX = 5;
const KEYS = 6;
const TURNS = 6;
// One queue is spread, so that its jobs are in several partitions; the other is at home.
const QUEUES = { many: { spread: 3 }, one: {} } as const;

// What a planted bug replaces.
const CODE = { ClusterRouter, RemotePartitions, ServedPartitions };
export type ClusterCode = typeof CODE;

export function runClusterWorld(seed: number, code: ClusterCode = CODE): Promise<WorldEnd> {
  return new ClusterWorld(seed, code).run();
}

class ClusterWorld extends ClientWorld {
  protected readonly ackShare = 0.85;
  readonly #directory = new MemoryDirectory(PARTITIONS);
  readonly #code: ClusterCode;
  readonly #served: ServedPartitions;
  readonly #hosts: Hosts;
  readonly #nets: SimNet[];
  readonly #routers: Broker[] = [];
  // Jobs that wait to be acked together with others, of each router.
  readonly #unacked = new Map<Broker, LeasedJob[]>();
  #groups = 0;
  #waitingGroups = 0;

  constructor(seed: number, code: ClusterCode) {
    super(seed, TURNS);
    this.#code = code;
    this.#served = new code.ServedPartitions(this.streams());
    this.#hosts = new Hosts(this.clock, this.#served, PARTITIONS);
    this.#nets = Array.from(
      { length: PARTITIONS },
      (_, partition) =>
        new SimNet(this.clock, this.random, (socket) => this.#served.accept(partition, socket)),
    );
  }

  #remote(): RemotePartitions {
    const dial = (partition: number) => this.#nets[partition]!.dial();
    return new this.#code.RemotePartitions({ ...this.streams(), dial });
  }

  protected async open(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) await this.#hosts.open(partition);
    for (const partitions of [this.#served, this.#remote(), this.#remote()]) {
      const parts = { directory: this.#directory, partitions, clock: this.clock };
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
        const credits = this.random.between(1, CREDITS_MAX);
        await this.time.during(this.consume(router, queue, `${queue}-${i}`, credits));
      }
    }
  }

  protected produce(): void {
    for (const router of this.#routers) this.#add(router);
    if (this.random.chance(0.5)) this.#poll(this.random.pick(this.#routers));
  }

  protected async heal(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (!this.#hosts.isUp(partition)) await this.#hosts.open(partition);
    }
  }

  protected async isSettled(): Promise<boolean> {
    return this.isDone;
  }

  protected override get isDone(): boolean {
    return super.isDone && this.#waitingGroups === 0;
  }

  protected async close(): Promise<void> {
    for (const router of this.#routers) await this.time.during(router.close());
    await this.#hosts.close();
  }

  protected async judge(): Promise<void> {
    if (this.#waitingGroups > 0) this.history.fail(`${this.#waitingGroups} groups never ended`);
    const [first] = this.#routers;
    const stats: QueueStats[] = [];
    for (const queue of Object.keys(QUEUES)) {
      stats.push((await this.time.during(first!.queue(queue))).stats);
    }
    this.history.judge(stats);
  }

  // Connections are cut, and partitions leave their owner or find one.
  protected async disturb(): Promise<void> {
    for (const net of this.#nets) if (this.random.chance(0.2)) net.cutSome(0.5);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (!this.#hosts.isUp(partition)) {
        if (this.random.chance(0.6)) await this.#hosts.open(partition);
      } else if (this.random.chance(0.12)) {
        const how = this.random.pick(["close", "crash", "fenced"] as const);
        await this.#hosts.leave(partition, how);
        if (this.random.chance(0.3)) await this.#hosts.open(partition);
      }
    }
  }

  #add(router: Broker): void {
    const names = this.names(this.random.between(0, 5));
    if (names.length === 0) return;
    const group = this.random.chance(0.3) ? { group: `g${this.#groups++}` } : {};
    const jobs = names.map(
      (name): NewJob => ({
        payload: new TextEncoder().encode(name),
        fairnessKey: `k${this.random.below(KEYS)}`,
        ...group,
      }),
    );
    const queue = this.random.chance(0.7) ? "many" : "one";
    const options = { operationId: `op ${names[0]}` };
    this.history.adding(names.length);
    const refused = (error: unknown): void => this.history.fail(`an add was refused: ${error}`);
    const add = router.add(queue, jobs, options);
    add.then((outcomes) => this.history.added(names, outcomes), refused);
    if (group.group !== undefined) {
      void this.#awaitGroup(this.random.pick(this.#routers), `${queue}/${group.group}`, names);
    }
    if (!this.random.chance(0.3)) return;
    // A caller that has not received the answer repeats the call, through this router or another.
    const again = this.random.pick(this.#routers).add(queue, jobs, options);
    Promise.all([add, again]).then(([first, second]) => {
      const same = JSON.stringify(first) === JSON.stringify(second);
      if (!same) this.history.fail(`the add of ${names[0]} was answered in two ways`);
    }, refused);
  }

  // Starts to wait before all members are added. All of them must be there when the group has
  // ended.
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
      await new Promise<void>((resolve) => this.in(20, resolve));
    }
  }

  #poll(router: Broker): void {
    const max = this.random.between(1, 4);
    const wait = this.random.pick([0, 300]);
    router.lease("many", { max, wait, worker: "poll" }).then(
      (jobs) => {
        if (jobs.length > max) this.history.fail(`a poll for ${max} got ${jobs.length}`);
        for (const job of jobs) this.work(router, job);
      },
      (error) => this.history.fail(`a poll was refused: ${error}`),
    );
  }

  protected endJob(router: Broker, job: LeasedJob, isAck: boolean): void {
    if (!isAck) {
      router.nack([{ lease: job.lease, error: "no" }]).catch(() => {});
      return;
    }
    const unacked = this.#unacked.get(router)!;
    unacked.push(job);
    // Acks several jobs at once, whatever their partitions. A job waits for others only briefly.
    if (unacked.length >= 3) return this.#ack(router);
    this.in(100, () => this.#ack(router));
  }

  #ack(router: Broker): void {
    const jobs = this.#unacked.get(router)!;
    if (jobs.length === 0) return;
    this.#unacked.set(router, []);
    router.ack(jobs.map(({ lease }) => ({ lease }))).then(
      (outcomes) => {
        for (const [i, { id }] of jobs.entries()) this.history.ended(id, outcomes[i], true);
      },
      (error) => this.history.fail(`an ack was refused: ${error}`),
    );
  }
}
