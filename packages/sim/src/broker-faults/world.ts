// One seed: several lives of a broker on one disk, each ended in its own way, and a last one in
// which everything is healthy and all that is left is done. A world lasts minutes, or an hour with
// workers that do their jobs by the clock.

import { setImmediate } from "node:timers/promises";
import * as module from "@sluice/broker";
import { allQueues, type QueueInfo } from "@sluice/protocol";
import { Broken, demand } from "../demand.ts";
import { START } from "../fault-world.ts";
import { SimDisk } from "../log-faults/sim-disk.ts";
import type { IdleTotals } from "../model/idle-books.ts";
import { Random } from "../random.ts";
import { Trace } from "../trace.ts";
import type { WorldEnd } from "../world-end.ts";
import { Checker } from "./checker.ts";
import { Guard } from "./guard.ts";
import { type BrokerModule, type HowItEnds, Life } from "./life.ts";
import { type FaultPlan, JobMaker, makeFaultPlan, queueOptions } from "./plan.ts";
import type { Delivered, HistoryRecord } from "./record.ts";
import { slowWork } from "./slow-work.ts";
import { Workers } from "./workers.ts";
import { type Memory, Workload } from "./workload.ts";

export interface BrokerWorldOptions {
  readonly seed: number;
  // How long it lasts; absent: as long as its steps take, which is minutes.
  readonly hours?: number | undefined;
  readonly module?: BrokerModule | undefined;
  readonly print?: ((line: string) => void) | undefined;
}

export interface BrokerWorldEnd extends WorldEnd {
  // Of all that happened: the same for the same seed.
  readonly hash: string;
}

const STEP_MS = 1_000;
const HOUR_MS = 3_600_000;
const STEPS_MAX = 90;
// What of the disk's calls a life may see before it ends.
const CALLS_MAX = 400;
const HOUR_CALLS_MAX = 4_000;
// Runs of an hour use larger segments. Otherwise cleaning would take most of the time of a run.
const HOUR_UNIT_BYTES = 8 * 1024;
const PAUSES_MS = [0, 100, 3 * STEP_MS, 30 * STEP_MS, 120 * STEP_MS];
// In an hour a disk is fast beside a lease: what is leased is delivered before it runs out.
const HOUR_TURNS = 8;
const DRAIN_ROUNDS = 120;
// A group waits so long for members whose add has died with its caller.
const GROUP_HELD_MS = 60_000;
// Of a report.
const LINE_CHARS = 300;
const LINES = 12;

export async function runBrokerWorld(options: BrokerWorldOptions): Promise<BrokerWorldEnd> {
  const world = new BrokerWorld(options);
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
  const { trace, checker, idle, passedMs } = world;
  const counts = {
    "simulated hours": passedMs / HOUR_MS,
    ...checker.totals,
    "ms of idle places": idle.sumMs,
    "ms idle at most": idle.longestMs,
  };
  const report = () => reportOf(options, failure, trace.last());
  return { hash: trace.hash, counts, failure, report };
}

function reportOf(
  { seed, hours = 0 }: BrokerWorldOptions,
  failure: string | undefined,
  last: readonly string[],
): string {
  const length = hours === 0 ? "" : ` --hours ${hours}`;
  return [
    `broker faults, seed ${seed}${length}, broke a promise:`,
    `  ${failure}`,
    ...last.slice(-LINES).map((line) => `    ${line.slice(0, LINE_CHARS)}`),
    `run it again with: npm run faults -- --seed ${seed}${length}`,
  ].join("\n");
}

class BrokerWorld {
  readonly checker = new Checker();
  idle: IdleTotals = { longestMs: 0, sumMs: 0 };
  // By the clock that never steps.
  passedMs = 0;
  readonly trace: Trace;
  readonly #module: BrokerModule;
  readonly #random: Random;
  readonly #plan: FaultPlan;
  readonly #jobs: JobMaker;
  readonly #memory: Memory = { held: [], ids: [] };
  readonly #segmentBytes: number;
  // 0: as long as its steps take.
  readonly #lengthMs: number;
  #disk: SimDisk;
  #pid = 1;
  #clockAt = START;
  #calls = 0;
  #failure: unknown;

  constructor(options: BrokerWorldOptions) {
    const { seed, module: planted = module, print, hours = 0 } = options;
    const isHour = hours > 0;
    this.trace = new Trace(print);
    this.#lengthMs = hours * HOUR_MS;
    this.#module = planted;
    this.#random = new Random(seed);
    this.#plan = makeFaultPlan(this.#random, STEP_MS, isHour);
    this.#jobs = new JobMaker(this.#random, this.#plan, 1);
    this.#segmentBytes = this.#random.pick([4, 16, 64]) * (isHour ? HOUR_UNIT_BYTES : 1024);
    this.#disk = new SimDisk(this.#random);
  }

  async play(): Promise<void> {
    const lives = this.#random.between(2, 5);
    for (let left = lives; left > 0; left--) await this.#live(left === lives, left);
    while (this.passedMs < this.#lengthMs) await this.#live(false, 1);
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

  async #live(isFirst: boolean, left: number): Promise<void> {
    const random = this.#random;
    const how = random.weighted<HowItEnds>({ power: 4, kill: 2, close: 2, error: 3 });
    const life = this.#life();
    const callsMax = this.#lengthMs === 0 ? CALLS_MAX : HOUR_CALLS_MAX;
    life.meetFate(how, random.below(isFirst ? callsMax : callsMax / random.pick([1, 2, 10])));
    const since = life.clock.now();
    if (await life.open()) {
      const opens = isFirst || random.chance(0.3);
      if (this.#lengthMs === 0) await this.#work(life, opens);
      else await this.#workFor(life, opens, (this.#lengthMs - this.passedMs) / left);
    }
    this.passedMs += life.clock.now() - since;
    await this.#end(life, how);
  }

  // So much of an hour: calls in bursts and with long pauses between, while workers work.
  async #workFor(life: Life, opens: boolean, ms: number): Promise<void> {
    const random = this.#random;
    const { clock, recorder } = life;
    const workload = this.#workload(life);
    const until = clock.now() + ms;
    if (opens) await life.within(workload.open(), "the first calls");
    if (life.isOver) return;
    const leave = (job: Delivered): void => workload.leave(job);
    const workers = new Workers({ random, plan: this.#plan, recorder, clock, leave });
    for (const queue of this.#plan.queues) {
      for (let left = random.between(1, 3); left > 0; left--) void workers.hire(queue);
    }
    while (clock.now() < until && !life.isOver) {
      for (let calls = random.pick([1, 1, 3, 10]); calls > 0; calls--) workload.step();
      await life.pause();
      await life.quiet();
      await life.pass(random.pick(PAUSES_MS), HOUR_TURNS);
      if (random.chance(0.03)) life.stepWall(random.between(-3600, 3600) * STEP_MS);
      if (random.chance(0.1)) void workers.hire(random.pick(this.#plan.queues));
      if (!life.isOver) await life.judgeRest();
      this.#check();
    }
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
      await life.judgeRest();
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
