// Calls between partitions over a network that a seed makes slow, doubles, loses and cuts.

import type { LendAnswer, LendRequest } from "@sluice/broker";
import { SluiceError } from "@sluice/protocol";
import type { Random } from "../random.ts";
import type { SimClock } from "../sim-clock.ts";
import type { PartitionClock } from "./partition-clock.ts";

// One end: a process, while it lives.
export interface Station {
  readonly clock: PartitionClock;
  readonly isUp: boolean;
  lend(request: LendRequest): Promise<LendAnswer>;
}

export interface NetOptions {
  readonly delayMs: readonly [number, number];
  readonly loss: number;
}

export class Net {
  readonly #clock: SimClock;
  readonly #random: Random;
  readonly #options: NetOptions;
  readonly stations = new Map<string, Station>();
  // Pairs that do not reach each other.
  readonly cuts = new Set<string>();
  isCalm = false;
  calls = 0;

  constructor(clock: SimClock, random: Random, options: NetOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
  }

  // Resolves in the process that asked, if it runs and the answer arrives.
  call(from: string, asker: PartitionClock, to: string, request: LendRequest): Promise<LendAnswer> {
    this.calls++;
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new SluiceError("DISCONNECTED", "the connection broke"));
      const answered = (answer: LendAnswer): void =>
        this.#carry(from, to, answer, (copy) => asker.run(() => resolve(copy)), fail);
      const deliver = (copy: LendRequest, answer: (answer: LendAnswer) => void): void => {
        const station = this.stations.get(to)!;
        const { clock } = station;
        const isThere = (): boolean => station.isUp && station.clock === clock;
        if (!isThere()) return this.#later(fail);
        clock.run(() => {
          if (isThere()) void station.lend(copy).then(answer, () => this.#later(fail));
        });
      };
      this.#carry(from, to, request, (copy) => deliver(copy, answered), fail);
      if (this.#chance(0.05))
        this.#carry(from, to, request, (copy) => deliver(copy, () => {}), fail);
    });
  }

  // What is lost is noticed by some, and by others never.
  #carry<T>(
    from: string,
    to: string,
    message: T,
    arrive: (copy: T) => void,
    fail: () => void,
  ): void {
    const isLost = this.cuts.has(from) || this.cuts.has(to) || this.#chance(this.#options.loss);
    if (isLost) {
      if (this.#random.chance(0.5)) this.#later(fail);
      return;
    }
    const copy = JSON.parse(JSON.stringify(message));
    this.#clock.at(this.#clock.now() + this.#delay(), () => arrive(copy));
  }

  #later(act: () => void): void {
    this.#clock.at(this.#clock.now() + this.#delay(), act);
  }

  #chance(probability: number): boolean {
    return !this.isCalm && this.#random.chance(probability);
  }

  // Some messages are far behind the others.
  #delay(): number {
    const [least, most] = this.#options.delayMs;
    const isLate = this.#chance(0.02);
    return this.#random.between(least, most) + (isLate ? this.#random.between(0, 3000) : 0);
  }
}
