// The clock of one partition: apart from the others, a little faster or slower, and standing still
// for its users while the process is frozen.

import type { Clock, Timer } from "@sluice/protocol";
import type { SimClock } from "../sim-clock.ts";

export class PartitionClock implements Clock {
  readonly #world: SimClock;
  readonly #begin: number;
  readonly #aheadMs: number;
  readonly #speed: number;
  // What the process would have done while it was frozen.
  readonly #frozen: (() => void)[] = [];
  isFrozen = false;
  #life = 0;

  constructor(world: SimClock, aheadMs: number, speed: number) {
    this.#world = world;
    this.#begin = world.now();
    this.#aheadMs = aheadMs;
    this.#speed = speed;
  }

  now(): number {
    const passed = (this.#world.now() - this.#begin) * this.#speed;
    return Math.floor(this.#begin + this.#aheadMs + passed);
  }

  // The true time at which this clock first showed a time.
  trueTime(time: number): number {
    return Math.ceil(this.#begin + (time - this.#begin - this.#aheadMs) / this.#speed);
  }

  at(time: number, callback: () => void): Timer {
    const life = this.#life;
    let isOn = true;
    this.#world.at(this.trueTime(Math.ceil(time)), () => {
      this.run(() => {
        if (isOn && life === this.#life) callback();
      });
    });
    return {
      cancel: () => {
        isOn = false;
      },
    };
  }

  // Does something in the process, when it runs.
  run(act: () => void): void {
    if (this.isFrozen) this.#frozen.push(act);
    else act();
  }

  thaw(): void {
    this.isFrozen = false;
    for (const act of this.#frozen.splice(0)) act();
  }

  // The process is gone, and its timers with it.
  kill(): void {
    this.#life++;
    this.isFrozen = false;
    this.#frozen.length = 0;
  }
}
