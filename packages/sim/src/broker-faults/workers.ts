// Those who do the jobs of an hour, each in its way, by the clock:
//
//   fast     done in milliseconds
//   slow     takes seconds, and extends its lease
//   failing  nacks every other job, in all the ways there are
//   hanging  answers only after its lease has run out
//   dying    never answers; a later life may use its leases

import type { Consumer, Nack } from "@sluice/protocol";
import type { Random } from "../random.ts";
import type { SimClock } from "../sim-clock.ts";
import type { FaultPlan } from "./plan.ts";
import { type Delivered, OWN_WORKER } from "./record.ts";
import type { Recorder } from "./recorder.ts";

const KINDS = { fast: 6, slow: 2, failing: 2, hanging: 1, dying: 1 } as const;
type WorkerKind = keyof typeof KINDS;

export interface WorkersParts {
  readonly random: Random;
  readonly plan: FaultPlan;
  readonly recorder: Recorder;
  readonly clock: SimClock;
  // Called with a job whose worker died.
  readonly leave: (job: Delivered) => void;
}

interface Worker {
  readonly kind: WorkerKind;
  readonly leaseMs: number;
  consumer: Consumer | undefined;
}

export class Workers {
  readonly #of: WorkersParts;
  readonly #workers = new Map<string, Worker>();

  constructor(parts: WorkersParts) {
    this.#of = parts;
    parts.recorder.onJobs = (jobs, to) => {
      for (const job of jobs) this.#take(job, to);
    };
  }

  async hire(queue: string, kind = this.#of.random.weighted(KINDS)): Promise<void> {
    const { random, recorder } = this.#of;
    const place = random.chance(0.3) ? OWN_WORKER : "w";
    const name = `${place}-${kind}-${recorder.calls}-${this.#workers.size}`;
    const leaseMs = random.pick([2_000, 10_000, 30_000]);
    const worker: Worker = { kind, leaseMs, consumer: undefined };
    this.#workers.set(name, worker);
    worker.consumer = await recorder.consume(queue, name, random.between(1, 4), leaseMs);
  }

  #take(job: Delivered, to: string): void {
    const { random } = this.#of;
    const worker = this.#workers.get(to);
    // A poll: its jobs are done soon.
    if (worker === undefined) return this.#in(random.between(1, 200), () => this.#ack(job, worker));
    const { kind, leaseMs } = worker;
    if (kind === "dying") return this.#die(job, worker);
    if (kind === "hanging" && random.chance(0.3)) {
      return this.#in(leaseMs + random.between(0, 5_000), () => this.#ack(job, worker));
    }
    if (kind === "slow") {
      this.#in(Math.floor(leaseMs / 2), () => {
        void this.#of.recorder.call({ call: "extend", items: [{ lease: job.lease, leaseMs }] });
      });
      return this.#in(random.between(leaseMs / 2, leaseMs), () => this.#ack(job, worker));
    }
    const isFailing = kind === "failing" && random.chance(0.5);
    this.#in(random.between(5, 400), () =>
      isFailing ? this.#fail(job, worker) : this.#ack(job, worker),
    );
  }

  #in(ms: number, act: () => void): void {
    const { clock } = this.#of;
    clock.at(clock.now() + Math.floor(ms), act);
  }

  #free(worker: Worker | undefined): void {
    worker?.consumer?.addCredits(1);
  }

  // Half of the time another worker takes its place, and another job.
  #die(job: Delivered, worker: Worker): void {
    this.#of.leave(job);
    if (this.#of.random.chance(0.5)) this.#free(worker);
  }

  #ack(job: Delivered, worker: Worker | undefined): void {
    void this.#of.recorder.call({ call: "ack", leases: [job.lease] });
    this.#free(worker);
  }

  #fail({ lease }: Delivered, worker: Worker): void {
    const { random, plan, recorder } = this.#of;
    const gate = random.pick(plan.gates);
    const how = random.pick<Omit<Nack, "lease">>([
      {},
      { error: "it failed" },
      { delayMs: 0 },
      { delayMs: random.between(1, 5_000) },
      { blame: false },
      { blame: [gate] },
      { unrecoverable: true },
      { cooldown: { gate, ms: random.pick([0, 100, 3_000]) } },
    ]);
    if (random.chance(0.2)) void recorder.call({ call: "giveBack", leases: [lease] });
    else void recorder.call({ call: "nack", items: [{ lease, ...how }] });
    this.#free(worker);
  }
}
