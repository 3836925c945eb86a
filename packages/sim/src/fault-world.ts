// What the worlds of clients, partitions and networks share: how time passes in them, and how they
// end.

import type { SimClock } from "./sim-clock.ts";

// A call is given so many steps to be answered.
const STEPS_MAX = 2_000;

export class Passing {
  readonly #clock: SimClock;
  // Turns of the event loop in which what needs no time comes through.
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

export interface FaultWorld {
  readonly time: Passing;
  // Ends all faults.
  heal(): Promise<void> | void;
  // Nothing is left to do.
  isSettled(): Promise<boolean>;
  // Holds the history against the promises; also when it never settled.
  judge(): Promise<void> | void;
  close(): Promise<void>;
}

// The end of a world: without faults all that is left is done, and the history is judged.
export async function settle(world: FaultWorld, stepMs: number, steps: number): Promise<void> {
  await world.heal();
  for (let step = 0; step < steps && !(await world.isSettled()); step++) {
    await world.time.pass(stepMs);
  }
  await world.judge();
  await world.close();
}
