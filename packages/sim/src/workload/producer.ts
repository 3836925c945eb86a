// Those who add jobs: one steady, one in bursts, and one noisy tenant who floods a single lane.

import type { Broker } from "../broker/broker.ts";
import type { Agenda } from "../time/agenda.ts";
import type { Random } from "../worlds/random.ts";
import { add, addGroup } from "./calls.ts";
import type { LanePlan, QueuePlan } from "./plan.ts";
import { makeSpec } from "./spec.ts";

export class Producers {
  isStopped = false;
  readonly #broker: Broker;
  readonly #agenda: Agenda;
  readonly #random: Random;
  #tag = 0;

  constructor(broker: Broker, random: Random) {
    this.#broker = broker;
    this.#agenda = broker.parts.agenda;
    this.#random = random;
  }

  start(queue: QueuePlan): void {
    const meanMs = 60_000 / queue.addsPerMinute;
    this.#every(meanMs / 4, meanMs * 2, () => this.#addOne(queue, this.#random.pick(queue.lanes)));
    this.#every(120_000, 900_000, () => this.#burst(queue));
    this.#every(300_000, 1_500_000, () => this.#flood(queue));
    this.#every(60_000, 400_000, () => this.#addTogether(queue));
  }

  #every(leastMs: number, mostMs: number, act: () => void): void {
    this.#agenda.in(this.#random.between(Math.floor(leastMs), Math.floor(mostMs)), () => {
      if (this.isStopped) return;
      act();
      this.#every(leastMs, mostMs, act);
    });
  }

  #addOne(queue: QueuePlan, lane: LanePlan): void {
    const spec = makeSpec(this.#random, queue, lane, ++this.#tag, this.#broker.now);
    add(this.#broker, queue.name, spec);
  }

  #burst(queue: QueuePlan): void {
    const count = this.#random.between(5, 60);
    for (let i = 0; i < count; i++) {
      this.#agenda.in(this.#random.between(0, 500), () =>
        this.#addOne(queue, this.#random.pick(queue.lanes)),
      );
    }
  }

  #flood(queue: QueuePlan): void {
    const lane = this.#random.pick(queue.lanes);
    const count = this.#random.between(20, 120);
    for (let i = 0; i < count; i++) this.#agenda.in(i, () => this.#addOne(queue, lane));
  }

  #addTogether(queue: QueuePlan): void {
    const group = `group-${++this.#tag}`;
    const specs = Array.from({ length: this.#random.between(1, 8) }, () => {
      const lane = this.#random.pick(queue.lanes);
      const spec = makeSpec(this.#random, queue, lane, ++this.#tag, this.#broker.now);
      return { ...spec, group };
    });
    addGroup(this.#broker, queue.name, specs);
  }
}
