// Those who do the jobs.
//
//   fast     done in milliseconds
//   slow     takes seconds and extends its lease
//   failing  nacks every other job, in all the ways there are
//   dying    falls silent with its leases held, and another comes in its place
//   hanging  answers only after its lease has run out
//   giving   closes now and then and gives back what it has not begun

import type { Lease, NackOptions } from "@sluice/engine";
import type { Broker } from "../broker/broker.ts";
import type { Random } from "../worlds/random.ts";
import { ack, extend, giveBack, leave, nack, pull, want } from "./calls.ts";
import type { WorkerKind } from "./plan.ts";

// How long the broker takes to notice that a connection is gone.
const RESUME_MS = 2_000;

export class Worker {
  readonly name: string;
  readonly queue: string;
  readonly #kind: WorkerKind;
  readonly #slots: number;
  readonly #broker: Broker;
  readonly #random: Random;
  readonly #gateKeys: readonly string[];
  readonly #held = new Map<number, Lease>();
  #isGone = false;

  constructor(
    broker: Broker,
    random: Random,
    identity: { name: string; queue: string; kind: WorkerKind; slots: number },
    gateKeys: readonly string[],
  ) {
    this.#broker = broker;
    this.#random = random;
    this.name = identity.name;
    this.queue = identity.queue;
    this.#kind = identity.kind;
    this.#slots = identity.slots;
    this.#gateKeys = gateKeys;
  }

  start(): void {
    this.#broker.receivers.set(`${this.queue}/${this.name}`, (lease) => this.#receive(lease));
    this.ask();
  }

  // Tells how many jobs it would take; after a crash everybody tells again.
  ask(): void {
    if (this.#isGone || !this.#broker.ledger.queues.has(this.queue)) return;
    want(this.#broker, this.queue, this.name, Math.max(0, this.#slots - this.#held.size));
  }

  // The broker is back: what was not answered is unknown, what is held is held.
  reconnect(): void {
    this.#in(this.#random.between(1, 500), () => this.ask());
  }

  // Falls silent. Half of the time the broker is told that the connection is gone.
  die(): void {
    this.#isGone = true;
    this.#broker.receivers.delete(`${this.queue}/${this.name}`);
    if (this.#random.chance(0.5)) this.#later(RESUME_MS, () => this.#leave());
  }

  close(): void {
    for (const lease of [...this.#held.values()]) this.#giveBack(lease);
    this.#isGone = true;
    this.#leave();
    this.#broker.receivers.delete(`${this.queue}/${this.name}`);
  }

  #leave(): void {
    if (this.#broker.ledger.queues.has(this.queue)) leave(this.#broker, this.queue, this.name);
  }

  #later(delayMs: number, act: () => void): void {
    this.#broker.parts.agenda.in(delayMs, act);
  }

  #in(delayMs: number, act: () => void): void {
    this.#later(delayMs, () => {
      if (!this.#isGone) act();
    });
  }

  #receive(lease: Lease): void {
    if (this.#isGone) return;
    this.#held.set(lease.id, lease);
    const random = this.#random;
    const leaseMs = lease.expiresAt - this.#broker.now;
    if (this.#kind === "slow") {
      const tookMs = random.between(500, 12_000);
      if (tookMs > leaseMs / 2) this.#extendUntil(lease, Math.max(500, leaseMs), tookMs);
      return this.#in(tookMs, () => this.#done(lease));
    }
    if (this.#kind === "hanging" && random.chance(0.2)) {
      return this.#in(leaseMs + random.between(-2, 5_000), () => this.#done(lease));
    }
    if (this.#kind === "giving" && random.chance(0.3)) {
      return this.#in(random.between(0, 50), () => this.#giveBack(lease));
    }
    this.#in(random.between(5, 400), () => this.#done(lease));
  }

  #extendUntil(lease: Lease, leaseMs: number, leftMs: number): void {
    const pauseMs = Math.floor(leaseMs / 2);
    if (leftMs <= pauseMs) return;
    this.#in(pauseMs, () => {
      if (this.#held.get(lease.id) !== lease) return;
      extend(this.#broker, lease, leaseMs);
      const job = this.#broker.ledger.jobs.get(lease.id);
      if (job?.lease === lease.lease) this.#extendUntil(lease, leaseMs, leftMs - pauseMs);
    });
  }

  #done(lease: Lease): void {
    const free = (): void => this.#free(lease);
    // An answer that a crash swallows is not waited for.
    this.#in(5_000, free);
    if (this.#kind === "failing" && this.#random.chance(0.5)) {
      return nack(this.#broker, lease, this.#failure(), free);
    }
    ack(this.#broker, lease, free);
  }

  #giveBack(lease: Lease): void {
    giveBack(this.#broker, lease, () => this.#free(lease));
  }

  #free(lease: Lease): void {
    if (this.#held.get(lease.id) !== lease) return;
    this.#held.delete(lease.id);
    this.ask();
  }

  #failure(): NackOptions {
    const random = this.#random;
    const gate = random.pick(this.#gateKeys);
    return random.pick<NackOptions>([
      {},
      { error: "it failed" },
      { delayMs: 0 },
      { delayMs: random.between(1, 5_000) },
      { blame: false },
      { blame: [gate] },
      { unrecoverable: true },
      { cooldown: { gate, ms: random.pick([0, 100, 3_000, 30_000]) } },
      { cooldown: { gate, ms: 500 }, delayMs: 50 },
    ]);
  }
}

// Takes a few dead letters by hand; those that it does not answer come back when the lease is over.
export function readLetters(broker: Broker, random: Random, queue: string): void {
  const done = (): void => {};
  pull(broker, queue, random.between(1, 5), (lease) => {
    broker.parts.agenda.in(random.between(1, 200), () => {
      const how = random.weighted({ nack: 5, giveBack: 2, forget: 2, ack: 1 });
      if (how === "nack") nack(broker, lease, random.pick([{}, { delayMs: 0 }]), done);
      if (how === "giveBack") giveBack(broker, lease, done);
      if (how === "ack") ack(broker, lease, done);
    });
  });
}

// Takes a few jobs by hand, and is done with them soon.
export function pullSome(broker: Broker, random: Random, queue: string): void {
  pull(broker, queue, random.between(1, 5), (lease) => {
    broker.parts.agenda.in(random.between(1, 200), () => ack(broker, lease, () => {}));
  });
}
