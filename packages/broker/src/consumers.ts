import type { Engine, Lease } from "@sluice/engine";
import type { ConsumeOptions, Consumer, Deliver, LeasedJob } from "@sluice/protocol";
import type { Body } from "./bodies.ts";
import { type Chunks, readBody } from "./chunks.ts";
import type { Journal } from "./journal.ts";
import type { LeaseTokens } from "./lease-tokens.ts";
import { idOf } from "./tokens.ts";

/** Receivers that take longer than this block the process: a handler that does not await. */
const HELD_UP_MS = 20;

/** Leases that are given back in one go when the broker closes. */
const HELD_PER_PAGE = 1000;

/** Somebody to whom jobs go, as the broker knows it. */
class Seat implements Consumer {
  readonly queue: string;
  readonly name: string;
  readonly wants: { readonly leaseMs: number; readonly inProcess: boolean };
  readonly deliver: Deliver;
  readonly over: Promise<void>;
  readonly end: () => void;
  /** Jobs that may still go out to it. */
  credits: number;
  /** Jobs that went out to it and wait to be durable. */
  onTheWay = 0;
  isOver = false;
  /** It takes jobs once, and whoever asked keeps them whatever becomes of it. */
  isPoll = false;
  /** Told when what was on its way did not arrive and nothing else is. */
  onNothing: () => void = () => {};
  readonly #owner: Consumers;

  constructor(owner: Consumers, queue: string, name: string, options: ConsumeOptions, to: Deliver) {
    this.#owner = owner;
    this.queue = queue;
    this.name = name;
    const { leaseMs = 0, inProcess = false } = options;
    this.wants = { leaseMs, inProcess };
    this.credits = options.credits;
    this.deliver = to;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.end = resolve;
  }

  addCredits(count: number): void {
    if (this.isOver) return;
    this.credits += count;
    this.#owner.changed(this);
  }

  stop(): Promise<void> {
    this.#owner.leave(this);
    return this.over;
  }
}

export type { Seat };

/**
 * Those to whom jobs are delivered. The engine knows each as a worker of its queue with as many
 * slots as it has credits; what the engine grants is delivered once the grant is durable, so that a
 * crash never lets two hold the same job.
 */
export class Consumers {
  readonly #engine: Engine;
  readonly #journal: Journal;
  readonly #chunks: Chunks;
  readonly #tokens: LeaseTokens;
  readonly #now: () => number;
  readonly #wake: () => void;
  readonly #onDamage: (error: unknown) => void;
  readonly #onHeldUp: () => void;
  readonly #seats = new Map<string, Map<string, Seat>>();
  /** Those whose credits the engine does not know yet. */
  readonly #changed = new Set<Seat>();
  /** Leases of the commit that gathers now. */
  #granted: Lease[] = [];
  #commit = -1;
  /** Leases that are durable and wait for the payloads of those before them to be read. */
  readonly #outbox: (readonly Lease[])[] = [];
  #sending: Promise<void> | undefined;
  #count = 0;

  constructor(parts: {
    engine: Engine;
    journal: Journal;
    chunks: Chunks;
    tokens: LeaseTokens;
    now: () => number;
    wake: () => void;
    onDamage: (error: unknown) => void;
    /** A receiver has kept the process busy. */
    onHeldUp: () => void;
  }) {
    this.#engine = parts.engine;
    this.#journal = parts.journal;
    this.#chunks = parts.chunks;
    this.#tokens = parts.tokens;
    this.#now = parts.now;
    this.#wake = parts.wake;
    this.#onDamage = parts.onDamage;
    this.#onHeldUp = parts.onHeldUp;
  }

  join(queue: string, options: ConsumeOptions, deliver: Deliver): Seat {
    const seats = this.#seats.get(queue) ?? new Map<string, Seat>();
    // The engine tells workers apart by name; two with one name are two all the same.
    const isTaken = seats.has(options.worker);
    const name = isTaken ? `${options.worker}#${++this.#count}` : options.worker;
    const seat = new Seat(this, queue, name, options, deliver);
    this.#engine.want(queue, name, seat.credits, this.#now(), seat.wants);
    this.#seats.set(queue, seats.set(name, seat));
    this.#wake();
    return seat;
  }

  changed(seat: Seat): void {
    this.#changed.add(seat);
    this.#wake();
  }

  /** Tells the engine of credits that came since. */
  applyCredits(): void {
    if (this.#changed.size === 0) return;
    const now = this.#now();
    for (const seat of this.#changed) {
      if (!seat.isOver) {
        this.#engine.want(seat.queue, seat.name, seat.credits, now, seat.wants);
      }
    }
    this.#changed.clear();
  }

  leave(seat: Seat): void {
    if (seat.isOver) return;
    this.#remove(seat);
    this.#engine.leaveWorker(seat.queue, seat.name, this.#now(), seat.wants);
    this.#wake();
  }

  /** The queue is deleted: so are its workers. */
  queueGone(queue: string): void {
    for (const seat of this.#seats.get(queue)?.values() ?? []) this.#remove(seat);
  }

  /** Everybody leaves, and what consumers hold is given back: nobody is left to finish it. */
  leaveAll(): void {
    for (const [queue, seats] of this.#seats) {
      const consumers = [...seats.values()].filter(({ isPoll }) => !isPoll);
      const names = new Set(consumers.map(({ name }) => name));
      for (const seat of seats.values()) this.leave(seat);
      if (names.size > 0) this.#giveBackHeld(queue, names);
    }
  }

  #giveBackHeld(queue: string, workers: ReadonlySet<string>): void {
    let cursor = 0;
    do {
      const page = this.#engine.jobs(queue, { state: "leased", limit: HELD_PER_PAGE, cursor });
      for (const { id, lease, worker } of page.jobs) {
        if (workers.has(worker!)) this.#engine.giveBack(id, lease, this.#now());
      }
      cursor = page.cursor;
    } while (cursor !== 0);
  }

  /** The broker cannot go on: nobody gets anything any more. */
  endAll(): void {
    for (const queue of this.#seats.keys()) this.queueGone(queue);
  }

  #remove(seat: Seat): void {
    seat.isOver = true;
    this.#seats.get(seat.queue)?.delete(seat.name);
    this.#changed.delete(seat);
    seat.end();
  }

  /** The engine has granted leases: they go out when that is durable. */
  grant(leases: readonly Lease[]): void {
    for (const { queue, worker } of leases) {
      const seat = this.#seats.get(queue)?.get(worker);
      if (seat === undefined) continue;
      seat.credits--;
      seat.onTheWay++;
    }
    if (this.#commit !== this.#journal.gathering) this.#newCommit();
    for (const lease of leases) this.#granted.push(lease);
  }

  /** What was granted before went out with the commit before; this must not go out with it. */
  #newCommit(): void {
    const granted: Lease[] = [];
    this.#granted = granted;
    this.#commit = this.#journal.gathering;
    this.#journal.whenDurable(() => this.#send(granted));
  }

  #send(leases: readonly Lease[]): void {
    this.#outbox.push(leases);
    if (this.#sending === undefined) this.#sendAll();
  }

  /** Sends what is durable, in order; goes on by itself when payloads had to be read. */
  #sendAll(): void {
    this.#sending = undefined;
    try {
      for (let next = this.#outbox.shift(); next !== undefined; next = this.#outbox.shift()) {
        const reading = this.#sendNow(next);
        if (reading === undefined) continue;
        this.#sending = reading.then(
          () => this.#sendAll(),
          (error: unknown) => this.#giveUp(error),
        );
        return;
      }
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** A payload cannot be read: nothing is sent any more. */
  #giveUp(error: unknown): void {
    this.#sending = undefined;
    this.#outbox.length = 0;
    this.#onDamage(error);
  }

  /** Resolves when all that is durable was sent. */
  async sent(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  /** Answers a promise when payloads have to be read first. */
  #sendNow(leases: readonly Lease[]): Promise<void> | undefined {
    const bodies: (Body | Promise<Body> | undefined)[] = [];
    let isReading = false;
    for (const { id } of leases) {
      const read = readBody(this.#engine, this.#chunks, id);
      if (read instanceof Promise) isReading = true;
      bodies.push(read);
    }
    if (!isReading) {
      this.#handOver(leases, bodies as (Body | undefined)[]);
      return undefined;
    }
    return Promise.all(bodies).then((read) => this.#handOver(leases, read));
  }

  #handOver(leases: readonly Lease[], bodies: readonly (Body | undefined)[]): void {
    const deliveries = new Map<Seat, LeasedJob[]>();
    let seat: Seat | undefined;
    let jobs: LeasedJob[] = [];
    const now = this.#now();
    for (let i = 0; i < leases.length; i++) {
      const lease = leases[i]!;
      if (seat === undefined || seat.name !== lease.worker || seat.queue !== lease.queue) {
        seat = this.#seats.get(lease.queue)?.get(lease.worker);
        jobs = (seat && deliveries.get(seat)) ?? [];
        if (seat !== undefined) deliveries.set(seat, jobs);
      }
      const body = bodies[i];
      if (seat === undefined) this.#giveBack(lease);
      else {
        seat.onTheWay--;
        const job = body === undefined ? undefined : this.#leasedJob(lease, body, now);
        if (job !== undefined) jobs.push(job);
        // Cancelled, or expired, before it was delivered.
        else this.changed(creditBack(seat));
      }
    }
    // By the clock it was given, so that a simulation does not depend on how fast it runs.
    const from = this.#now();
    for (const [to, list] of deliveries) {
      if (list.length > 0) deliver(to, list);
      else if (to.onTheWay === 0) to.onNothing();
    }
    if (this.#now() - from > HELD_UP_MS) this.#onHeldUp();
  }

  #leasedJob(lease: Lease, body: Body, now: number): LeasedJob | undefined {
    const held = this.#engine.held(lease.id, lease.lease);
    if (held === undefined) return undefined;
    const id = idOf(lease.id);
    return {
      id,
      lease: this.#tokens.of(lease.id, lease.lease, id),
      queue: lease.queue,
      attempt: lease.attempt,
      attempts: held.attempts,
      deliveries: held.deliveries,
      tier: lease.tier,
      fairnessKey: held.fairnessKey,
      addedAt: held.addedAt,
      expiresAt: held.expiresAt,
      leaseMs: Math.max(1, held.expiresAt - now),
      headers: body.headers,
      payload: body.payload,
    };
  }

  /** The consumer left while the job was on its way: nobody has started it. */
  #giveBack({ id, lease }: Lease): void {
    if (this.#engine.held(id, lease) === undefined) return;
    this.#engine.giveBack(id, lease, this.#now());
    this.#wake();
  }
}

/** What a receiver throws is its own: it must not keep others from their jobs. */
function deliver(seat: Seat, jobs: LeasedJob[]): void {
  try {
    seat.deliver(jobs);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function creditBack(seat: Seat): Seat {
  seat.credits++;
  return seat;
}
