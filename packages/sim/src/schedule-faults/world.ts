// Schedules over the lives of a broker on a simulated disk: power losses and kills at any call to
// the disk, orderly ends, pauses without a broker, steps of the wall clock, workers that finish,
// fail or forget their jobs. No tick makes two jobs, none is missing beyond `catchUp`, and in the
// end every schedule still ticks.

import { setImmediate } from "node:timers/promises";
import * as brokerModule from "@sluice/broker";
import { FileLog } from "@sluice/log";
import { type LeasedJob, SluiceError } from "@sluice/protocol";
import type { BrokerModule } from "../broker-faults/life.ts";
import { Broken, demand } from "../demand.ts";
import { START } from "../fault-world.ts";
import { DIR, SimDisk } from "../log-faults/sim-disk.ts";
import { Random } from "../random.ts";
import { SimClock } from "../sim-clock.ts";
import type { WorldEnd } from "../world-end.ts";
import { type Planned, TickBook } from "./book.ts";

const QUEUES = ["plain", "full"];
const LIVES = 6;
const STEPS = 40;
const LEASE_MS = 20_000;
const TURNS_MAX = 800;
// Ticks are at whole seconds. A manual run is recognised by its time.
const SECOND_MS = 1000;
const LONG_MS = 3_600_000;

export async function runScheduleWorld(
  seed: number,
  module: BrokerModule = brokerModule,
): Promise<WorldEnd> {
  const world = new ScheduleWorld(seed, module);
  let failure: string | undefined;
  try {
    await world.play();
  } catch (error) {
    failure = error instanceof Broken ? error.message : `crash: ${(error as Error).stack}`;
  }
  world.leave();
  await setImmediate();
  return { failure, counts: world.counts };
}

type Broker = Awaited<ReturnType<BrokerModule["openBroker"]>>;

class ScheduleWorld {
  readonly #random: Random;
  readonly #module: BrokerModule;
  readonly #books = new Map<string, TickBook>();
  readonly #held: LeasedJob[] = [];
  #disk: SimDisk;
  #clock = new SimClock(START);
  #broker: Broker | undefined;
  #isOver = false;
  #stop = Promise.withResolvers<void>();
  #after: SimDisk | undefined;
  #lives = 0;
  readonly #brokers: Broker[] = [];
  readonly #clocks: SimClock[] = [];

  constructor(seed: number, module: BrokerModule) {
    this.#random = new Random(seed);
    this.#module = module;
    this.#disk = new SimDisk(this.#random);
  }

  get counts(): Record<string, number> {
    const jobs = [...this.#books.values()].reduce((sum, { count }) => sum + count, 0);
    return { lives: this.#lives, ticks: jobs };
  }

  async play(): Promise<void> {
    const random = this.#random;
    for (let life = 0; life < LIVES; life++) {
      const how = random.pick(["power", "kill", "close"] as const);
      if (how !== "close") this.#meetEnd(how, random.between(3, 120));
      if (await this.#open()) {
        if (this.#books.size === 0) await this.#make();
        for (let step = 0; step < STEPS && !this.#isOver; step++) await this.#step();
      }
      await this.#end(how);
      this.#clock.step(random.pick([0, 200, 3_000, 20_000, 90_000]));
      if (random.chance(0.3)) this.#stepWall();
    }
    demand(await this.#open(), "opens", () => "the last life does not open");
    if (this.#books.size === 0) await this.#make();
    await this.#finish();
    await this.#end("close");
  }

  // A broker with a planted bug may have something to do at every turn, long after its world. One
  // that waits for a dead disk is never closed: it stops when it has waited for long.
  leave(): void {
    for (const broker of this.#brokers) broker.close().catch(() => {});
    for (const clock of [...this.#clocks, this.#clock]) {
      clock.forget();
      clock.step(LONG_MS);
    }
  }

  get #wall(): number {
    return this.#clock.wall();
  }

  // At a call to the disk, counted from now.
  #meetEnd(how: "power" | "kill", calls: number): void {
    let left = calls;
    const disk = this.#disk;
    disk.onCall = () => {
      if (!this.#isOver && disk === this.#disk && left-- === 0) this.#die(how);
      return undefined;
    };
  }

  #die(how: "power" | "kill"): void {
    this.#isOver = true;
    this.#after = how === "power" ? this.#disk.crash() : this.#disk.copy();
    this.#stop.resolve();
  }

  async #open(): Promise<boolean> {
    this.#isOver = false;
    this.#stop = Promise.withResolvers();
    this.#lives++;
    const pid = this.#lives;
    const opening = (async () => {
      const segmentBytes = 8 * 1024;
      const log = await FileLog.open({
        dir: DIR,
        disk: this.#disk,
        processes: {
          self: () => ({ pid, startedTicks: pid, bootId: "boot" }),
          isRunning: (name) => name.pid === pid,
        },
        segmentBytes,
        readCacheBytes: 4096,
        onTorn: () => {},
      });
      const leaseSecret = new Uint8Array(16);
      const options = { log, clock: this.#clock, segmentBytes, leaseSecret };
      const broker = await this.#module.openBroker(options);
      this.#brokers.push(broker);
      return broker;
    })();
    this.#broker = await this.#within(opening);
    if (this.#broker === undefined) return false;
    for (const book of this.#books.values()) book.begins(this.#wall);
    return true;
  }

  async #end(how: "power" | "kill" | "close"): Promise<void> {
    for (const book of this.#books.values()) book.ends(this.#wall);
    if (!this.#isOver && how !== "close") this.#die(how);
    if (!this.#isOver && this.#broker !== undefined) await this.#within(this.#broker.close());
    const { wallAheadMs } = this.#clock;
    this.#disk = this.#after ?? this.#disk.copy();
    this.#after = undefined;
    this.#broker = undefined;
    this.#isOver = true;
    const clock = new SimClock(this.#clock.now());
    clock.wallAheadMs = wallAheadMs;
    // What is left of the broker that is gone has no timers any more.
    this.#clock.forget();
    this.#clocks.push(this.#clock);
    this.#clock = clock;
  }

  // What a call answers; undefined when the broker is gone before.
  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    let isDone = false;
    const done = Promise.race([work, this.#stop.promise]).finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (let turns = 0; !isDone && turns < TURNS_MAX; turns++) await setImmediate();
    demand(isDone, "hang", () => "a call is not answered");
    const answer = (await done) as T | undefined;
    return this.#isOver ? undefined : answer;
  }

  async #call<T>(call: (broker: Broker) => Promise<T>): Promise<T | undefined> {
    if (this.#isOver) return undefined;
    try {
      return await this.#within(call(this.#broker!));
    } catch (error) {
      if (error instanceof SluiceError && error.code !== "INTERNAL") return undefined;
      throw error;
    }
  }

  async #make(): Promise<void> {
    const random = this.#random;
    await this.#call((broker) => broker.setQueue("plain", { lease: LEASE_MS }));
    await this.#call((broker) => broker.setQueue("full", { capacity: { jobs: 2 } }));
    const catchUps = ["none", "one", "all"] as const;
    for (const [i, catchUp] of catchUps.entries()) {
      await this.#set(planned("plain", `plain-${i}`, random, { catchUp, isPlain: true }));
    }
    for (const overlap of ["skip", "wait"] as const) {
      await this.#set(planned("plain", overlap, random, { overlap }));
    }
    await this.#set(planned("plain", "paused", random, {}));
    await this.#set(planned("full", "refused", random, {}));
  }

  async #set(plan: Planned): Promise<void> {
    const wall = this.#wall;
    const info = await this.#call((broker) =>
      broker.setSchedule(plan.queue, plan.name, {
        every: plan.periodMs,
        payload: "x".repeat(100),
        catchUp: plan.catchUp,
        overlap: plan.overlap,
        options: { attempts: 1000 },
      }),
    );
    // One whose making was not answered is set again, in another life.
    if (info === undefined) return;
    const name = `${plan.queue}/${plan.name}`;
    if (!this.#books.has(name)) this.#books.set(name, new TickBook(plan, wall + 1));
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const act = random.weighted({ pass: 8, work: 8, wall: 1, pause: 1, run: 1, again: 1 });
    if (act === "pass") await this.#pass(random.between(1, 8_000));
    else if (act === "work") await this.#work(random.between(1, 6));
    else if (act === "wall") this.#stepWall();
    else if (act === "pause") {
      const on = random.chance(0.5);
      await this.#call((broker) =>
        on ? broker.pauseSchedule("plain", "paused") : broker.resumeSchedule("plain", "paused"),
      );
    } else if (act === "again") {
      const book = random.pick([...this.#books.values()]);
      await this.#set(book.plan);
    } else if (this.#wall % SECOND_MS !== 0) {
      const { queue, name } = random.pick([...this.#books.values()]).plan;
      await this.#call((broker) => broker.runSchedule(queue, name));
    }
    await this.#look();
  }

  // A call that is answered says that all before it is durable.
  async #look(): Promise<void> {
    const wall = this.#wall;
    const paused = this.#random.chance(0.5);
    const answer = await this.#call((broker) =>
      broker.storeWrite("seen", [{ key: "wall", value: { wall, paused } }]).then(() => true),
    );
    if (answer !== true) return;
    for (const book of this.#books.values()) book.confirmed(wall);
  }

  #stepWall(): void {
    const random = this.#random;
    if (this.#broker !== undefined) for (const book of this.#books.values()) book.ends(this.#wall);
    this.#clock.wallAheadMs += random.between(-30, 60) * 500;
    for (const book of this.#books.values()) book.begins(this.#wall);
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0 && !this.#isOver; ) {
      left = this.#clock.step(left);
      await setImmediate();
      await setImmediate();
    }
  }

  async #work(max: number): Promise<void> {
    const random = this.#random;
    for (const queue of QUEUES) {
      const lease = { max, worker: "w", lease: LEASE_MS };
      const jobs = (await this.#call((broker) => broker.lease(queue, lease))) ?? [];
      for (const job of jobs) this.#deliver(job);
    }
    const some = this.#held.splice(0, random.between(0, 6));
    await this.#endJobs(some, random.chance(0.2));
  }

  #deliver(job: LeasedJob): void {
    const tick = Date.parse(job.headers["sluice-tick"]!);
    const book = this.#books.get(`${job.queue}/${job.headers["sluice-schedule"]}`);
    if (book !== undefined && tick % SECOND_MS === 0) book.delivered(job.id, tick);
    this.#held.push(job);
  }

  async #endJobs(jobs: readonly LeasedJob[], isFailure: boolean): Promise<void> {
    if (jobs.length === 0) return;
    for (const { id, queue, headers } of jobs) {
      this.#books.get(`${queue}/${headers["sluice-schedule"]}`)?.ending(id);
    }
    const answer = await this.#call(async (broker) => {
      if (!isFailure) return broker.ack(jobs.map(({ lease }) => ({ lease })));
      return broker.nack(jobs.map(({ lease }) => ({ lease, unrecoverable: true })));
    });
    // Repeats an ack or nack that was not answered: it may not have arrived.
    if (answer === undefined) this.#held.push(...jobs);
  }

  // Without faults: all that is there is done, and then every schedule ticks again.
  async #finish(): Promise<void> {
    this.#disk.onCall = () => undefined;
    await this.#call((broker) => broker.resumeSchedule("plain", "paused"));
    await this.#look();
    await this.#drain(3 * LEASE_MS);
    const before = new Map([...this.#books].map(([name, { count }]) => [name, count]));
    await this.#drain(60_000);
    for (const [name, book] of this.#books) {
      demand(book.count > before.get(name)!, "ticks go on", () => `${name} ticks no more`);
      book.judge();
    }
    await this.#judgeHeld();
  }

  async #judgeHeld(): Promise<void> {
    for (const { plan, name } of this.#books.values()) {
      const info = await this.#call((broker) => broker.schedule(plan.queue, plan.name));
      const isHeld = info!.lastTick?.outcome === "held" && info!.running === 0;
      demand(!isHeld, "held ticks go on", () => `${name} holds a tick though nothing runs`);
    }
  }

  async #drain(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += SECOND_MS) {
      await this.#pass(SECOND_MS);
      for (const queue of QUEUES) {
        const lease = { max: 1000, worker: "w", lease: LEASE_MS };
        const jobs = (await this.#call((broker) => broker.lease(queue, lease))) ?? [];
        for (const job of jobs) this.#deliver(job);
      }
      await this.#endJobs(this.#held.splice(0), false);
      await this.#look();
    }
  }
}

function planned(queue: string, name: string, random: Random, more: Partial<Planned>): Planned {
  const periodMs = random.pick([1, 2, 5, 7]) * SECOND_MS;
  const overlap = more.isPlain === true ? "allow" : random.pick(["allow", "skip"] as const);
  const catchUp = random.pick(["none", "one", "all"] as const);
  return { queue, name, periodMs, overlap, catchUp, isPlain: false, ...more };
}
