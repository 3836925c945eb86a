// The workers of all queues: who comes, who goes, and who is told when the broker is back.

import type { Broker } from "../broker/broker.ts";
import { Random } from "../worlds/random.ts";
import type { Plan, WorkerKind } from "./plan.ts";
import { pullSome, readLetters, Worker } from "./worker.ts";

export class Team {
  readonly #broker: Broker;
  readonly #random: Random;
  readonly #gateKeys: readonly string[];
  readonly #workers = new Set<Worker>();
  // A source of its own: what becomes of letters does not change the rest of a seed's draws.
  readonly #letterRandom = new Random(1);
  #hired = 0;
  #isHealed = false;

  constructor(broker: Broker, random: Random, plan: Plan) {
    this.#broker = broker;
    this.#random = random;
    this.#gateKeys = plan.gateKeys;
  }

  start(queue: string, kinds: readonly WorkerKind[]): void {
    for (const kind of kinds) this.#hire(queue, kind, this.#random.between(1, 4));
    this.#pull(queue);
    this.#lookAtLetters(`${queue}.dlq`);
  }

  // Somebody looks at dead letters now and then, and mostly leaves them where they are.
  #lookAtLetters(queue: string): void {
    const random = this.#letterRandom;
    this.#broker.parts.agenda.in(random.between(5_000, 60_000), () => {
      if (this.#isHealed) return;
      if (this.#broker.ledger.queues.has(queue)) readLetters(this.#broker, random, queue);
      this.#lookAtLetters(queue);
    });
  }

  #hire(queue: string, kind: WorkerKind, slots: number): Worker {
    const identity = { name: `w${++this.#hired}`, queue, kind, slots };
    const worker = new Worker(this.#broker, this.#random, identity, this.#gateKeys);
    this.#workers.add(worker);
    worker.start();
    if (kind === "dying" || kind === "giving") this.#replaceLater(worker, kind, slots);
    return worker;
  }

  // Its life is short; then there is nobody for a while, and then another.
  #replaceLater(worker: Worker, kind: WorkerKind, slots: number): void {
    const { agenda } = this.#broker.parts;
    agenda.in(this.#random.between(10_000, 300_000), () => {
      if (this.#isHealed) return;
      this.#workers.delete(worker);
      if (kind === "dying") worker.die();
      else worker.close();
      agenda.in(this.#random.between(0, 60_000), () => {
        if (!this.#isHealed) this.#hire(worker.queue, kind, slots);
      });
    });
  }

  #pull(queue: string): void {
    this.#broker.parts.agenda.in(this.#random.between(20_000, 400_000), () => {
      if (this.#isHealed) return;
      pullSome(this.#broker, this.#random, queue);
      this.#pull(queue);
    });
  }

  reconnect(): void {
    for (const worker of this.#workers) worker.reconnect();
  }

  // All queues, dead letters included, get workers that do what they are told.
  heal(queues: Iterable<string>): void {
    this.#isHealed = true;
    for (const worker of this.#workers) worker.close();
    this.#workers.clear();
    for (const queue of queues) this.#hire(queue, "fast", 20);
  }

  // A queue made by its first dead letter needs somebody too.
  staff(queues: Iterable<string>): void {
    const staffed = new Set([...this.#workers].map(({ queue }) => queue));
    for (const queue of queues) if (!staffed.has(queue)) this.#hire(queue, "fast", 20);
  }
}
