// One life of a broker on a simulated disk: opened, worked with, and ended by chance.
//
//   power   everything stops at some call to the disk, and what was not synced may be gone
//   kill    everything stops there too, but the disk has all that was written
//   close   it is closed, and every call was answered
//   error   some call to the disk fails: nothing may be confirmed from then on
//
// Disk, timers and the driver take turns in one order: the same seed gives the same history.

import { setImmediate } from "node:timers/promises";
import type { LocalBroker } from "@sluice/broker";
import { FileLog, type Processes } from "@sluice/log";
import { allQueues, SluiceError } from "@sluice/protocol";
import { Broken, demand } from "../demand.ts";
import { Follower } from "../facts/follower.ts";
import { judgeRest } from "../facts/wakes.ts";
import {
  DIR,
  type DiskCall,
  type DiskCallName,
  type Fault,
  type SimDisk,
} from "../log-faults/sim-disk.ts";
import type { Random } from "../random.ts";
import { SimClock } from "../sim-clock.ts";
import { observe, timeOf } from "./observe.ts";
import type { FaultPlan } from "./plan.ts";
import type { HistoryRecord, Seen } from "./record.ts";
import { Recorder } from "./recorder.ts";

export type BrokerModule = Pick<typeof import("@sluice/broker"), "openBroker">;
export type HowItEnds = "power" | "kill" | "close" | "error";

export interface LifeParts {
  readonly module: BrokerModule;
  readonly random: Random;
  readonly plan: FaultPlan;
  readonly disk: SimDisk;
  readonly pid: number;
  readonly startAt: number;
  readonly segmentBytes: number;
  readonly firstCall: number;
  readonly groups: readonly string[];
  readonly write: (record: HistoryRecord) => void;
}

const ERRORS: readonly { calls: readonly DiskCallName[]; code: string }[] = [
  { calls: ["sync"], code: "EIO" },
  { calls: ["write"], code: "EIO" },
  { calls: ["write", "create"], code: "ENOSPC" },
  { calls: ["syncDir", "unlink"], code: "EIO" },
  { calls: ["read"], code: "EIO" },
];
// Turns of the event loop within which everything that needs no time must have completed.
const TURNS_MAX = 500;
// Timers of one moment.
const TIMERS_MAX = 10_000;

export class Life {
  readonly clock: SimClock;
  readonly #follower = new Follower();
  readonly #of: LifeParts;
  #recorder: Recorder | undefined;
  #broker: LocalBroker | undefined;
  #aheadMs = 0;
  // The power is gone, or the process.
  #isOver = false;
  #stop: () => void = () => {};
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop = resolve;
  });
  #after: SimDisk | undefined;
  #failure: SluiceError | undefined;
  #hasToldFailure = false;
  #isFailing = false;
  #strange: unknown;

  constructor(parts: LifeParts) {
    this.#of = parts;
    this.clock = new SimClock(parts.startAt);
  }

  get recorder(): Recorder {
    return this.#recorder!;
  }

  // Nothing more can be done with this broker.
  get isOver(): boolean {
    return this.#isOver || this.#failure !== undefined;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  now(): number {
    return this.clock.now() + this.#aheadMs;
  }

  // At which call to the disk, counted from now, what happens.
  meetFate(how: HowItEnds, calls: number): void {
    const { disk, random } = this.#of;
    const { calls: names, code } = random.pick(ERRORS);
    let left = calls;
    let hasFailed = false;
    disk.onCall = (call: DiskCall): Fault => {
      if (how === "close" || this.#isOver) return undefined;
      const isMeant = how !== "error" || names.includes(call.name);
      if (hasFailed) return code === "ENOSPC" && isMeant ? { error: code } : undefined;
      if (!isMeant || left-- > 0) return undefined;
      if (how !== "error") this.stop(how);
      else {
        hasFailed = true;
        this.#isFailing = true;
      }
      return how === "error" ? { error: code } : undefined;
    };
  }

  stop(how: "power" | "kill"): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { disk } = this.#of;
    this.#after = how === "power" ? disk.crash() : disk.copy();
    this.#endRecord();
    this.clock.forget();
    this.#stop();
  }

  // What was reported while it opened counts too.
  #endRecord(): void {
    if (this.#recorder !== undefined) this.#recorder.end(false);
    else this.#endUnseen();
  }

  // It ended while it opened, but what fell due by its wall may have been written.
  #endUnseen(): void {
    this.#of.write({ is: "unseen", wallAt: this.clock.wall() });
    this.#of.write({ is: "end", at: this.clock.now(), isClean: false });
  }

  // Answers whether it is open: the disk may have failed, or the power.
  async open(): Promise<boolean> {
    const opening = this.#open();
    opening.catch(() => {});
    try {
      const opened = await this.within(opening, "an opening");
      if (opened === undefined) return false;
    } catch (error) {
      const isTold = error instanceof SluiceError && error.code === "LOG_FAILED";
      if (!isTold || !this.#isFailing) throw error;
      this.#failure = error;
      this.#endRecord();
      return false;
    }
    return true;
  }

  async #open(): Promise<true> {
    const { module, disk, random, pid, segmentBytes } = this.#of;
    const processes: Processes = {
      self: () => ({ pid, startedTicks: pid, bootId: "boot" }),
      isRunning: (name) => name.pid === pid,
    };
    const log = await FileLog.open({
      dir: DIR,
      disk,
      processes,
      segmentBytes,
      readCacheBytes: 4096,
      onTorn: () => {},
    });
    const followed = this.#follower.listen(log, (error) => {
      // Nothing that a process does after its end is visible, so later errors are ignored.
      if (!this.#isOver) this.#strange ??= error;
    });
    const broker = await module.openBroker({
      log: followed,
      clock: this.clock,
      segmentBytes,
      payloadMemoryBytes: random.pick([1, 1_500_000]),
      // A world looks the same each time it is run.
      leaseSecret: new Uint8Array(16),
      onFailure: (error) => {
        this.#failure = error;
      },
    });
    this.#broker = broker;
    void this.#hearFailure(broker).catch(() => {});
    await this.#look(broker);
    return true;
  }

  async #hearFailure(broker: LocalBroker): Promise<void> {
    for await (const { event } of broker.events({ events: ["failed"] })) {
      this.#hasToldFailure = event === "failed";
    }
  }

  // What there is, before anybody does anything.
  async #look(broker: LocalBroker): Promise<void> {
    const { write, firstCall } = this.#of;
    const clockAt = this.clock.now();
    const at = await timeOf(broker);
    this.#aheadMs = at - clockAt;
    const seen = await this.observe();
    if (this.#isOver) await new Promise(() => {});
    write({ is: "wall", at, wallAheadMs: this.clock.wall() - at });
    write({ is: "state", at, clockAt, openMs: 0, seen });
    this.#recorder = new Recorder({
      broker,
      now: () => this.now(),
      wallAheadMs: () => this.clock.wall() - this.now(),
      write,
      firstCall,
    });
    this.#recorder.onStrange = (error, call) => {
      const { stack } = error as Error;
      this.#strange ??= new Broken("errors", `${call.call} threw ${stack}`);
    };
    this.#recorder.listen().catch(() => {});
  }

  // The wall clock steps: it is now `aheadMs` ahead of the other clock.
  stepWall(aheadMs: number): void {
    this.clock.wallAheadMs = aheadMs;
    const wallAheadMs = this.clock.wall() - this.now();
    if (this.#recorder !== undefined) this.#of.write({ is: "wall", at: this.now(), wallAheadMs });
  }

  observe(): Promise<Seen> {
    return observe(this.#broker!, this.#of.plan.stores, this.#of.groups);
  }

  // Lets a little happen, or all that needs no time.
  async pause(): Promise<void> {
    const { random } = this.#of;
    if (random.chance(0.15)) await setImmediate();
    else for (let turns = random.below(25); turns > 0; turns--) await undefined;
    if (this.#strange !== undefined) throw this.#strange;
  }

  // After each timer the disk gets `turns` turns before time continues.
  async pass(ms: number, turns = 1): Promise<void> {
    for (let left = ms; left > 0 && !this.isOver; ) {
      left = this.clock.step(left);
      for (let turn = 0; turn < turns; turn++) await setImmediate();
    }
  }

  // Nothing more happens without time passing: no job may wait for nothing then.
  async judgeRest(): Promise<void> {
    for (let timers = 0; this.clock.isDue && !this.isOver; timers++) {
      demand(timers < TIMERS_MAX, "hang", () => `timers never end at ${this.clock.now()}`);
      this.clock.step(0);
      await setImmediate();
    }
    // A step of the wall clock is noticed with the next call, and jobs fall due by it.
    if (!this.isOver) await allQueues(this.#broker!);
    await this.quiet();
    if (!this.isOver) await judgeRest(this.#follower, this.#broker!, this.now());
  }

  // The disk as the next life finds it. After a failure it is asked whether it keeps its word.
  async end(how: HowItEnds): Promise<SimDisk> {
    if (!this.#isOver && this.#failure === undefined && how !== "close")
      this.stop(how === "power" ? how : "kill");
    if (this.#after !== undefined) return this.#after;
    if (this.#failure !== undefined && this.#recorder !== undefined) await this.#mustBeStopped();
    else if (this.#recorder !== undefined) await this.#close();
    this.clock.forget();
    const { disk, random } = this.#of;
    disk.onCall = () => undefined;
    return random.chance(0.5) ? disk.crash() : disk.copy();
  }

  async #close(): Promise<void> {
    await this.within(this.#broker!.close(), "a close");
    await setImmediate();
    this.recorder.end(true);
  }

  async #mustBeStopped(): Promise<void> {
    await this.quiet();
    demand(this.recorder.open === 0, "fail-stop", () => {
      return `${this.recorder.open} calls have no answer after the log failed`;
    });
    demand(this.#hasToldFailure, "fail-stop", () => "no event has told of the failure");
    const [queue = ""] = this.#of.plan.queues;
    const late = await this.recorder.call({ call: "purge", queue });
    demand(late === "LOG_FAILED", "fail-stop", () => `a later call is answered ${late}`);
    this.recorder.end(false);
    this.#of.disk.onCall = () => undefined;
    await this.within(this.#broker!.close(), "a close after a failure").catch(() => {});
  }

  // Nothing more happens without time passing.
  async quiet(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) await setImmediate();
    if (this.#strange !== undefined) throw this.#strange;
  }

  // Returns the result of the work, or undefined when the broker is gone. Fails if the work does
  // not end.
  async within<T>(work: Promise<T>, what: string): Promise<T | undefined> {
    let isDone = false;
    const done = Promise.race([work, this.#stopped]).finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (let turns = 0; !isDone && turns < TURNS_MAX; turns++) await setImmediate();
    demand(isDone, "hang", () => `${what} does not end`);
    return (await done) as T | undefined;
  }
}
