import { type Engine, emptyHeld, type Held, type Lease } from "@sluice/engine";
import {
  type ConsumeOptions,
  type Consumer,
  checkInteger,
  type Deliver,
  KEY,
  LEASE,
  type LeasedJob,
  type WorkerInfo,
  type WorkerPlace,
} from "@sluice/protocol";
import { type Chunks, readBodies } from "./chunks.ts";
import type { Body } from "./codec/body.ts";
import { idOf } from "./job-ids.ts";
import type { Journal } from "./journal.ts";
import type { LeaseTokens } from "./lease-tokens.ts";

/** Receivers that take longer than this block the process: a handler that does not await. */
const HELD_UP_MS = 20;

/** Leases that are given back in one go when the broker closes. */
const HELD_PER_PAGE = 1000;

/** A receiver of jobs, as the broker knows it. */
class LocalConsumer implements Consumer {
  readonly queue: string;
  readonly name: string;
  readonly place: WorkerPlace | undefined;
  readonly since: number;
  readonly wants: { readonly leaseMs: number; readonly inProcess: boolean };
  readonly deliver: Deliver;
  readonly over: Promise<void>;
  readonly end: () => void;
  /** Jobs that may still go out to it. */
  credits: number;
  /** Jobs that went out to it and wait to be durable. */
  onTheWay = 0;
  isOver = false;
  /** It takes jobs once. The caller keeps them even when this consumer is over. */
  isPoll = false;
  /** Called when a delivery on its way did not arrive and no other is on its way. */
  onNothing: () => void = () => {};
  readonly #owner: Consumers;

  constructor(
    owner: Consumers,
    of: { readonly queue: string; readonly name: string; readonly since: number },
    options: ConsumeOptions,
    to: Deliver,
  ) {
    this.#owner = owner;
    this.queue = of.queue;
    this.name = of.name;
    this.since = of.since;
    this.place = options.place && checkedPlace(options.place);
    const { lease, inProcess = false } = options;
    this.wants = { leaseMs: lease === undefined ? 0 : LEASE.parse("lease", lease), inProcess };
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

export type { LocalConsumer };

/** A client may say anything. */
function checkedPlace({ host, process, version }: WorkerPlace): WorkerPlace {
  KEY.parse("place.host", host);
  KEY.parse("place.version", version);
  checkInteger("place.process", process, 0, Number.MAX_SAFE_INTEGER);
  return { host, process, version };
}

/** The leases of one commit, and to whom each goes: another may have the name by then. */
interface Granted {
  readonly leases: Lease[];
  readonly to: (LocalConsumer | undefined)[];
}

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
  readonly #members = new Map<string, Map<string, LocalConsumer>>();
  /** Those whose credits the engine does not know yet. */
  readonly #changed = new Set<LocalConsumer>();
  /** Of the job that is about to be delivered. */
  readonly #held: Held = emptyHeld();
  /** Of the commit that gathers now. */
  #granted: Granted = { leases: [], to: [] };
  #commit = -1;
  /** Leases that are durable and wait for the payloads of those before them to be read. */
  readonly #outbox: Granted[] = [];
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

  join(queue: string, options: ConsumeOptions, deliver: Deliver): LocalConsumer {
    KEY.parse("worker", options.worker);
    const members = this.#members.get(queue) ?? new Map<string, LocalConsumer>();
    // The engine tells workers apart by name; two with one name are two all the same.
    const isTaken = members.has(options.worker);
    const name = isTaken ? `${options.worker}#${++this.#count}` : options.worker;
    const since = this.#now();
    const consumer = new LocalConsumer(this, { queue, name, since }, options, deliver);
    this.#engine.want(queue, name, consumer.credits, since, consumer.wants);
    this.#members.set(queue, members.set(name, consumer));
    this.#wake();
    return consumer;
  }

  /** Where a worker runs and since when it is connected; nothing of one that polls. */
  about(queue: string, name: string): Pick<WorkerInfo, "place" | "since"> {
    const consumer = this.#members.get(queue)?.get(name);
    if (consumer === undefined || consumer.isPoll) return {};
    const { place, since } = consumer;
    return place === undefined ? { since } : { place, since };
  }

  changed(consumer: LocalConsumer): void {
    this.#changed.add(consumer);
    this.#wake();
  }

  /** Passes credits that were added since to the engine. */
  applyCredits(): void {
    if (this.#changed.size === 0) return;
    const now = this.#now();
    for (const consumer of this.#changed) {
      if (!consumer.isOver) {
        this.#engine.want(consumer.queue, consumer.name, consumer.credits, now, consumer.wants);
      }
    }
    this.#changed.clear();
  }

  leave(consumer: LocalConsumer): void {
    if (consumer.isOver) return;
    this.#remove(consumer);
    this.#engine.want(consumer.queue, consumer.name, 0, this.#now(), consumer.wants);
    this.#wake();
  }

  /** The queue is deleted: so are its workers. */
  queueGone(queue: string): void {
    for (const consumer of this.#members.get(queue)?.values() ?? []) this.#remove(consumer);
  }

  /** Removes all consumers and gives back what they hold: none is left to finish it. */
  leaveAll(): void {
    for (const [queue, members] of this.#members) {
      const consumers = [...members.values()].filter(({ isPoll }) => !isPoll);
      const names = new Set(consumers.map(({ name }) => name));
      for (const consumer of members.values()) this.leave(consumer);
      if (names.size > 0) this.#giveBackHeld(queue, names);
    }
  }

  #giveBackHeld(queue: string, workers: ReadonlySet<string>): void {
    let cursor = 0;
    do {
      const page = this.#engine.queries.jobs(queue, {
        state: "running",
        limit: HELD_PER_PAGE,
        cursor,
      });
      for (const { id, lease, worker } of page.jobs) {
        if (workers.has(worker!)) this.#engine.giveBack(id, lease, this.#now());
      }
      cursor = page.cursor;
    } while (cursor !== 0);
  }

  /** The broker cannot continue: no consumer gets any more jobs. */
  endAll(): void {
    for (const queue of this.#members.keys()) this.queueGone(queue);
  }

  #remove(consumer: LocalConsumer): void {
    consumer.isOver = true;
    this.#members.get(consumer.queue)?.delete(consumer.name);
    this.#changed.delete(consumer);
    consumer.end();
  }

  /** The engine has granted leases: they go out when that is durable. */
  grant(leases: readonly Lease[]): void {
    if (this.#commit !== this.#journal.gathering) this.#newCommit();
    const granted = this.#granted;
    let last: Lease | undefined;
    let consumer: LocalConsumer | undefined;
    for (const lease of leases) {
      // Most come in runs for the same worker.
      if (last?.worker !== lease.worker || last.queue !== lease.queue) {
        consumer = this.#members.get(lease.queue)?.get(lease.worker);
      }
      last = lease;
      granted.leases.push(lease);
      granted.to.push(consumer);
      if (consumer === undefined) continue;
      consumer.credits--;
      consumer.onTheWay++;
    }
  }

  /** What was granted before went out with the commit before; this must not go out with it. */
  #newCommit(): void {
    const granted: Granted = { leases: [], to: [] };
    this.#granted = granted;
    this.#commit = this.#journal.gathering;
    this.#journal.whenDurable(() => this.#send(granted));
  }

  #send(granted: Granted): void {
    this.#outbox.push(granted);
    if (this.#sending === undefined) this.#sendAll();
  }

  /** Sends what is durable, in order. If payloads must be read first, it continues after that. */
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
  #sendNow(granted: Granted): Promise<void> | undefined {
    const bodies = readBodies(this.#engine, this.#chunks, granted.leases);
    if (bodies instanceof Promise) return bodies.then((read) => this.#handOver(granted, read));
    this.#handOver(granted, bodies);
    return undefined;
  }

  #handOver({ leases, to }: Granted, bodies: readonly (Body | undefined)[]): void {
    const deliveries = new Map<LocalConsumer, LeasedJob[]>();
    let jobs: LeasedJob[] = [];
    const now = this.#now();
    for (let i = 0; i < leases.length; i++) {
      const consumer = to[i];
      if (consumer === undefined || consumer.isOver) {
        this.#giveBack(leases[i]!);
        continue;
      }
      if (i === 0 || consumer !== to[i - 1]) {
        jobs = deliveries.get(consumer) ?? [];
        deliveries.set(consumer, jobs);
      }
      consumer.onTheWay--;
      const body = bodies[i];
      const job = body === undefined ? undefined : this.#leasedJob(leases[i]!, body, now);
      if (job !== undefined) jobs.push(job);
      // Cancelled, or its lease is over, before it was delivered.
      else this.changed(creditBack(consumer));
    }
    // By the clock it was given, so that a simulation does not depend on how fast it runs.
    const from = this.#now();
    for (const [consumer, list] of deliveries) {
      if (list.length > 0) deliver(consumer, list);
      else if (consumer.onTheWay === 0) consumer.onNothing();
    }
    if (this.#now() - from > HELD_UP_MS) this.#onHeldUp();
  }

  #leasedJob(lease: Lease, body: Body, now: number): LeasedJob | undefined {
    const held = this.#engine.held(lease.id, lease.lease, this.#held);
    if (held === undefined) return undefined;
    // The log took longer than the lease: delivered now, the job would run beside the one that
    // gets its permits in the same turn.
    if (held.expiresAt <= now) {
      this.#giveBack(lease);
      return undefined;
    }
    const id = idOf(lease.id);
    const job: LeasedJob = {
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
      expiresIn: Math.max(1, held.expiresAt - now),
      headers: body.headers,
      payload: body.payload,
    };
    if (held.hasSteps) job.hasSteps = true;
    return job;
  }

  /** The job was on its way and is not delivered: no worker has started it. */
  #giveBack({ id, lease }: Lease): void {
    if (this.#engine.held(id, lease) === undefined) return;
    this.#engine.giveBack(id, lease, this.#now());
    this.#wake();
  }
}

/** What a receiver throws is its own: it must not keep others from their jobs. */
function deliver(consumer: LocalConsumer, jobs: LeasedJob[]): void {
  try {
    consumer.deliver(jobs);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function creditBack(consumer: LocalConsumer): LocalConsumer {
  consumer.credits++;
  return consumer;
}
