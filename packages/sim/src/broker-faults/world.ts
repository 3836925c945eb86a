// One seed: several lives of a broker on one disk, each ended in its own way, and a last one in
// which everything is healthy and all that is left is done.

import { setImmediate } from "node:timers/promises";
import * as module from "@sluice/broker";
import { allQueues, type QueueInfo } from "@sluice/protocol";
import { SimDisk } from "../log-faults/sim-disk.ts";
import { Broken, demand } from "../model/broken.ts";
import type { IdleTotals } from "../model/idle-books.ts";
import { Trace } from "../run/trace.ts";
import { Random } from "../worlds/random.ts";
import { Checker, type Totals } from "./checker.ts";
import { Guard } from "./guard.ts";
import { type BrokerModule, type HowItEnds, Life } from "./life.ts";
import { JobMaker, makePlan, type Plan, queueOptions } from "./plan.ts";
import type { HistoryRecord } from "./record.ts";
import { slowWork } from "./slow-work.ts";
import { type Memory, Workload } from "./workload.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly module?: BrokerModule;
  readonly print?: ((line: string) => void) | undefined;
}

export interface WorldEnd {
  readonly seed: number;
  readonly hash: string;
  readonly totals: Totals;
  readonly idle: IdleTotals;
  readonly failure: string | undefined;
  readonly last: readonly string[];
}

const START_AT = 1_700_000_000_000;
const STEP_MS = 1_000;
const HOUR_MS = 3_600_000;
const STEPS_MAX = 90;
// What of the disk's calls a life may see before it ends.
const CALLS_MAX = 400;
const DRAIN_ROUNDS = 120;
// A group waits so long for members whose add has died with its caller.
const GROUP_HELD_MS = 60_000;

export async function runWorld(options: WorldOptions): Promise<WorldEnd> {
  const world = new World(options);
  const guard = new Guard();
  let failure: string | undefined;
  try {
    await world.play();
  } catch (error) {
    failure = error instanceof Broken ? error.message : `crash: ${(error as Error).stack}`;
  }
  // What is left of brokers that are gone must not disturb the next world.
  await setImmediate();
  const ended = guard.end();
  failure ??= ended;
  const { trace, checker } = world;
  const { hash } = trace;
  const { totals } = checker;
  return { seed: options.seed, hash, totals, idle: world.idle, failure, last: trace.last() };
}

class World {
  readonly checker = new Checker();
  idle: IdleTotals = { longestMs: 0, sumMs: 0 };
  readonly trace: Trace;
  readonly #module: BrokerModule;
  readonly #random: Random;
  readonly #plan: Plan;
  readonly #jobs: JobMaker;
  readonly #memory: Memory = { held: [], ids: [] };
  readonly #segmentBytes: number;
  #disk: SimDisk;
  #pid = 1;
  #clockAt = START_AT;
  #calls = 0;
  #failure: unknown;

  constructor({ seed, module: planted = module, print }: WorldOptions) {
    this.trace = new Trace(print);
    this.#module = planted;
    this.#random = new Random(seed);
    this.#plan = makePlan(this.#random, STEP_MS);
    this.#jobs = new JobMaker(this.#random, this.#plan, 1);
    this.#segmentBytes = this.#random.pick([4, 16, 64]) * 1024;
    this.#disk = new SimDisk(this.#random);
  }

  async play(): Promise<void> {
    const lives = this.#random.between(2, 5);
    for (let left = lives; left > 0; left--) await this.#live(left === lives);
    await this.#drain();
  }

  #life(): Life {
    const { random, write } = { random: this.#random, write: this.#write };
    return new Life({
      module: this.#module,
      random,
      plan: this.#plan,
      disk: this.#disk,
      pid: this.#pid++,
      startAt: this.#clockAt,
      segmentBytes: this.#segmentBytes,
      firstCall: this.#calls,
      groups: this.checker.groups,
      write,
    });
  }

  readonly #write = (record: HistoryRecord): void => {
    if (this.#failure !== undefined) return;
    this.trace.add(JSON.stringify(record));
    try {
      this.checker.take(record);
    } catch (error) {
      // Not into the hands of the broker that is talking to us.
      this.#failure = error;
    }
  };

  #workload(life: Life): Workload {
    const { clock, recorder } = life;
    return new Workload({
      random: this.#random,
      plan: this.#plan,
      jobs: this.#jobs,
      memory: this.#memory,
      recorder,
      wall: () => clock.wall(),
    });
  }

  async #live(isFirst: boolean): Promise<void> {
    const random = this.#random;
    const how = random.weighted<HowItEnds>({ power: 4, kill: 2, close: 2, error: 3 });
    const life = this.#life();
    life.meetFate(how, random.below(isFirst ? CALLS_MAX : CALLS_MAX / random.pick([1, 2, 10])));
    if (await life.open()) await this.#work(life, isFirst || random.chance(0.3));
    await this.#end(life, how);
  }

  async #work(life: Life, opens: boolean): Promise<void> {
    const random = this.#random;
    const workload = this.#workload(life);
    if (opens) await life.within(workload.open(), "the first calls");
    if (!life.isOver) await life.within(workload.consume(this.#plan.queues[0]!), "a consume");
    for (let steps = random.between(10, STEPS_MAX); steps > 0 && !life.isOver; steps--) {
      workload.step();
      await life.pause();
      if (random.chance(0.25)) await life.pass(random.below(3 * STEP_MS));
      if (random.chance(0.03)) life.stepWall(random.between(-3600, 3600) * STEP_MS);
      this.#check();
    }
  }

  async #end(life: Life, how: HowItEnds): Promise<void> {
    this.#disk = await life.end(how);
    this.#check();
    const { clock, recorder } = life;
    this.#calls = recorder?.calls ?? this.#calls;
    const jump = this.#random.pick([0, 0, STEP_MS, -HOUR_MS, HOUR_MS, 30 * STEP_MS]);
    this.#clockAt = clock.now() + jump;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  // Everything is healthy now: what is there is delivered and acked, and then nothing is left.
  async #drain(): Promise<void> {
    const life = this.#life();
    life.meetFate("close", 0);
    demand(await life.open(), "opening", () => "a healthy log does not open");
    const { recorder } = life;
    const workload = this.#workload(life);
    workload.isDraining = true;
    // Whatever is to run at a time on the wall runs now.
    life.stepWall(24 * HOUR_MS);
    for (const queue of await queuesOf(life)) {
      await life.within(workload.consume(queue, 3), "a consume");
    }
    await life.within(workload.crowd(), "the calls of a crowd");
    this.idle = await slowWork(life, workload);
    for (const gate of this.#plan.gates) {
      void recorder.call({ call: "clearCooldown", gate });
      void recorder.call({ call: "deleteGate", gate });
    }
    for (const queue of this.#plan.queues) {
      const options = { ...queueOptions(this.#random, this.#plan), paused: false };
      await life.within(recorder.call({ call: "setQueue", queue, options }), "a setQueue");
    }
    const served = new Set<string>();
    for (let round = 0; round < DRAIN_ROUNDS; round++) {
      for (const queue of await queuesOf(life)) {
        // Dead letter queues come and are served too.
        if (!served.has(queue)) await life.within(workload.consume(queue, 100), "a consume");
        served.add(queue);
      }
      await life.pass(2 * STEP_MS);
      workload.drain();
      this.#check();
      if ((await queuesOf(life, isBusy)).length === 0) break;
    }
    await this.#finish(life);
  }

  async #finish(life: Life): Promise<void> {
    await life.pass(GROUP_HELD_MS);
    await life.quiet();
    this.#check();
    const { clock } = life;
    const seen = await life.observe();
    this.#write({ is: "state", at: life.now(), clockAt: clock.now(), openMs: HOUR_MS * 24, seen });
    this.#check();
    this.checker.finish(seen);
    await this.#end(life, "close");
  }
}

async function queuesOf(
  life: Life,
  isMeant: (info: QueueInfo) => boolean = () => true,
): Promise<string[]> {
  await life.quiet();
  const queues = await allQueues(life.recorder.broker);
  return queues.filter(isMeant).map(({ name }) => name);
}

function isBusy({ stats }: QueueInfo): boolean {
  return stats.waiting + stats.delayed + stats.running > 0;
}
