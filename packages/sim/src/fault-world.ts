// What the worlds of clients, partitions and networks share: how time passes in them, and how they
// run and end.

import { Random } from "./random.ts";
import { SimClock } from "./sim-clock.ts";
import type { Counts, WorldEnd } from "./world-end.ts";

export const START = 1_700_000_000_000;
// A call must be answered within this many steps.
const STEPS_MAX = 2_000;

export class Passing {
  readonly #clock: SimClock;
  // Turns of the event loop within which everything that needs no time completes.
  readonly #turns: number;
  readonly #stepMs: number;

  constructor(clock: SimClock, turns: number, stepMs = 10) {
    this.#clock = clock;
    this.#turns = turns;
    this.#stepMs = stepMs;
  }

  async turns(): Promise<void> {
    for (let i = 0; i < this.#turns; i++) await new Promise(setImmediate);
  }

  async pass(ms: number): Promise<void> {
    let left = ms;
    await this.turns();
    while (left > 0) {
      left = this.#clock.step(left);
      await this.turns();
    }
  }

  // Lets time pass until a call is answered.
  async during<T>(call: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    call.then(done, done);
    for (let i = 0; i < STEPS_MAX && !isDone; i++) await this.pass(this.#stepMs);
    return call;
  }
}

export interface Pace {
  readonly turns: number;
  readonly callStepMs?: number;
  // How many steps it has, and how many without faults, each so long, in which it must settle.
  readonly steps: number;
  readonly quietSteps: number;
  readonly quietMs: number;
}

export abstract class FaultWorld {
  readonly clock = new SimClock(START);
  readonly random: Random;
  readonly time: Passing;
  readonly #pace: Pace;

  constructor(seed: number, pace: Pace) {
    this.random = new Random(seed);
    this.time = new Passing(this.clock, pace.turns, pace.callStepMs);
    this.#pace = pace;
  }

  // In the end, without faults, all that is left is done, and the history is judged.
  async run(): Promise<WorldEnd> {
    const { steps, quietSteps, quietMs } = this.#pace;
    await this.open();
    for (let step = 0; step < steps; step++) await this.step();
    await this.heal();
    for (let step = 0; step < quietSteps && !(await this.isSettled()); step++) {
      await this.time.pass(quietMs);
    }
    await this.judge();
    await this.close();
    return { failure: this.failures[0], counts: this.counts };
  }

  protected abstract readonly failures: readonly string[];
  protected abstract readonly counts: Counts;
  protected abstract open(): Promise<void>;
  protected abstract step(): Promise<void>;
  // Ends all faults.
  protected abstract heal(): Promise<void> | void;
  // Nothing is left to do.
  protected abstract isSettled(): Promise<boolean>;
  // Holds the history against the promises; also when it never settled.
  protected abstract judge(): Promise<void>;
  protected abstract close(): Promise<void>;
  // Something happens in so many milliseconds.
  protected in(ms: number, act: () => void): void {
    this.clock.at(this.clock.now() + ms, act);
  }
}
