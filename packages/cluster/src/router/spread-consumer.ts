/**
 * A consumer of a queue, over all partitions that hold it.
 *
 * Each partition has a consumer of its own, and the caller's credits are shared out among them. A
 * partition is in one of these states.
 *
 * hungry  it has used all the credits it was given: it may have more jobs
 * asked   it has credits that it was given a moment ago
 * quiet   it has had credits for a while and has sent nothing: it has nothing to send
 * out     it has no such consumer: it was refused there, or the queue is gone. It is tried again
 *         after a while; when all are out the consumer is over
 *
 * Credits at a quiet partition would be idle while others have jobs, so they are lent to the others
 * as well. Then two may use the same credit: a job beyond the caller's credits waits here for the
 * next one, and goes back unstarted when none comes soon. The caller is never given more than its
 * credits. As long as jobs come from everywhere nothing is lent, and nothing goes back.
 */
import type {
  ConsumeOptions,
  Consumer,
  Deliver,
  LeasedJob,
  SluiceError,
  Timer,
} from "@sluice/protocol";
import { toSluiceError } from "@sluice/protocol";
import { QUIET_MS, REJOIN_MS, SURPLUS_MS } from "./limits.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { isNotFound, type QueueCopies } from "./queue-copies.ts";

export interface SpreadConsumerParts {
  readonly calls: PartitionCalls;
  readonly copies: QueueCopies;
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly deliver: Deliver;
  /** How long a partition may have credits before it is quiet. Default 10. */
  readonly quietMs?: number | undefined;
}

interface Seat {
  readonly partition: number;
  /** Undefined while it joins. */
  consumer: Consumer | undefined;
  /** Credits that it was given and has not used. */
  credits: number;
  /** When it was last given credits, or has sent something. */
  since: number;
  isQuiet: boolean;
  isOut: boolean;
  error: SluiceError | undefined;
}

interface Surplus {
  readonly partition: number;
  readonly job: LeasedJob;
  readonly until: number;
}

export class SpreadConsumer implements Consumer {
  readonly over: Promise<void>;
  readonly #parts: SpreadConsumerParts;
  readonly #quietMs: number;
  readonly #seats = new Map<number, Seat>();
  readonly #end: () => void;
  readonly #leaveDirectory: () => void;
  #surplus: Surplus[] = [];
  /** Jobs that the caller may still be given. */
  #credits: number;
  #turn = 0;
  #timer: Timer | undefined = undefined;
  /** Nothing is shared out before all have joined who are there. */
  #isOpening = true;
  #isOver = false;
  #stopping: Promise<void> | undefined = undefined;

  private constructor(parts: SpreadConsumerParts) {
    this.#parts = parts;
    this.#quietMs = parts.quietMs ?? QUIET_MS;
    this.#credits = parts.options.credits;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#leaveDirectory = parts.calls.directory.onChange(() => this.#joinNew());
  }

  /** Answers when the partitions that hold the queue, and are there, have taken it in. */
  static async open(parts: SpreadConsumerParts): Promise<SpreadConsumer> {
    const consumer = new SpreadConsumer(parts);
    try {
      await consumer.#open();
      consumer.#isOpening = false;
      consumer.#look();
    } catch (error) {
      consumer.#finish();
      throw error;
    }
    return consumer;
  }

  async #open(): Promise<void> {
    const { calls, queue, options } = this.#parts;
    const placement = calls.directory.placementOf(queue);
    // The sole partition takes all credits with the call, and refuses what cannot be.
    if (placement.length === 1) return this.#joinSole(placement[0]!, options.credits);
    const joins = placement.map((partition) => this.#joinAgain(partition));
    const all = Promise.all(joins);
    // One that is away joins when it is back: nobody waits for it once another is there.
    const some = Promise.any(joins.map((join, i) => this.#joinedBy(join, placement[i]!)));
    await Promise.race([
      all,
      some.then(
        () => calls.briefly(all),
        () => all,
      ),
    ]);
    const seats = [...this.#seats.values()];
    const refused = seats.filter(({ isOut }) => isOut);
    if (refused.length === seats.length) throw this.#refusal(refused);
  }

  async #joinedBy(join: Promise<void>, partition: number): Promise<void> {
    await join;
    const { error } = this.#seats.get(partition)!;
    if (error !== undefined) throw error;
  }

  async #joinSole(partition: number, credits: number): Promise<void> {
    await this.#join(partition, credits);
    const seat = this.#seats.get(partition)!;
    if (seat.error !== undefined) throw seat.error;
  }

  #refusal(refused: readonly Seat[]): SluiceError {
    const errors = refused.map(({ error }) => error!);
    return errors.find((error) => !isNotFound(error)) ?? errors[0]!;
  }

  addCredits(count: number): void {
    if (this.#isOver || this.#stopping !== undefined) return;
    this.#credits += count;
    this.#share();
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#stopping ??= this.#stop();
    await this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#giveBack(this.#surplus.splice(0));
    const seats = [...this.#seats.values()];
    const stops = await Promise.allSettled(seats.map(({ consumer }) => consumer?.stop()));
    // Over it is in any case: what a partition that is away still sends goes back.
    this.#finish();
    const refused = stops.find(({ status }) => status === "rejected");
    if (refused !== undefined) throw (refused as PromiseRejectedResult).reason;
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#leaveDirectory();
    this.#end();
  }

  // Partitions come and go

  async #join(partition: number, credits = 0): Promise<void> {
    const { calls, copies, queue, options } = this.#parts;
    const since = calls.clock.now();
    const seat: Seat = {
      partition,
      consumer: undefined,
      credits,
      since,
      isQuiet: false,
      isOut: false,
      error: undefined,
    };
    this.#seats.set(partition, seat);
    try {
      const consumer = await copies.made(queue, partition, (port) =>
        port.consume(queue, { ...options, credits }, (jobs) => this.#receive(seat, jobs)),
      );
      seat.consumer = consumer;
      if (this.#isOver || this.#stopping !== undefined) return await consumer.stop();
      void consumer.over.then(() => this.#out(seat));
    } catch (error) {
      seat.error = toSluiceError(error);
      seat.isOut = true;
      seat.since = calls.clock.now();
    }
  }

  /** Joins, for the first time or after it was refused or ended there. */
  async #joinAgain(partition: number): Promise<void> {
    await this.#join(partition);
    this.#look();
  }

  /** The queue has been spread further. */
  #joinNew(): void {
    if (this.#isOver || this.#stopping !== undefined) return;
    const { calls, queue } = this.#parts;
    for (const partition of calls.directory.placementOf(queue)) {
      if (!this.#seats.has(partition)) void this.#joinAgain(partition);
    }
  }

  #out(seat: Seat): void {
    seat.isOut = true;
    seat.credits = 0;
    seat.since = this.#parts.calls.clock.now();
    if (this.#stopping === undefined) this.#look();
  }

  // Jobs come

  #receive(seat: Seat, jobs: LeasedJob[]): void {
    const { partition } = seat;
    const { clock } = this.#parts.calls;
    seat.credits -= jobs.length;
    seat.since = clock.now();
    seat.isQuiet = false;
    if (this.#isOver || this.#stopping !== undefined) {
      return this.#giveBack(jobs.map((job) => ({ partition, job, until: 0 })));
    }
    const now = jobs.length <= this.#credits ? jobs : jobs.slice(0, this.#credits);
    const until = clock.now() + SURPLUS_MS;
    for (const job of jobs.slice(now.length)) this.#surplus.push({ partition, job, until });
    this.#credits -= now.length;
    if (now.length > 0) this.#parts.deliver(now);
    this.#share();
  }

  /** Hands out what waits here, and lets more come. */
  #share(): void {
    if (this.#isOpening || this.#isOver || this.#stopping !== undefined) return;
    this.#handOutSurplus();
    const seats = this.#joined();
    if (seats.length > 0) this.#grant(seats);
    this.#setTimer();
  }

  #handOutSurplus(): void {
    const some = this.#surplus.splice(0, this.#credits);
    if (some.length === 0) return;
    this.#credits -= some.length;
    this.#parts.deliver(some.map(({ job }) => job));
  }

  #joined(): Seat[] {
    return [...this.#seats.values()].filter(
      ({ isOut, consumer }) => !isOut && consumer !== undefined,
    );
  }

  /** Credits that no partition has which might use them: to the others, in equal parts. */
  #grant(seats: readonly Seat[]): void {
    const now = this.#parts.calls.clock.now();
    const lively = seats.filter(({ isQuiet }) => !isQuiet);
    const asked = lively.reduce((sum, { credits }) => sum + credits, 0);
    let free = this.#credits - asked;
    if (free <= 0 || lively.length === 0) return;
    const turn = this.#turn++ % lively.length;
    const order = [...lively.slice(turn), ...lively.slice(0, turn)];
    for (const [i, seat] of order.entries()) {
      const part = Math.ceil(free / (order.length - i));
      if (part <= 0) break;
      free -= part;
      seat.credits += part;
      seat.since = now;
      seat.isQuiet = false;
      seat.consumer!.addCredits(part);
    }
  }

  /** When somebody falls quiet whose credits others could use, or a job has waited too long. */
  #setTimer(): void {
    const { clock } = this.#parts.calls;
    this.#timer?.cancel();
    this.#timer = undefined;
    const times = this.#surplus.map(({ until }) => until);
    const seats = this.#joined();
    const now = clock.now();
    if (this.#credits > 0 && seats.some(({ credits }) => credits === 0)) {
      for (const { credits, since, isQuiet } of seats) {
        if (credits > 0 && !isQuiet) times.push(since + this.#quietMs);
      }
    }
    for (const { isOut, since } of this.#seats.values()) if (isOut) times.push(since + REJOIN_MS);
    if (times.length === 0) return;
    const next = times.reduce((least, time) => Math.min(least, time));
    this.#timer = clock.at(Math.max(next, now), () => this.#look());
  }

  /** Looks at the state of all seats, and at what has waited for long. */
  #look(): void {
    if (this.#isOpening || this.#isOver || this.#stopping !== undefined) return;
    if ([...this.#seats.values()].every(({ isOut }) => isOut)) return this.#finish();
    const now = this.#parts.calls.clock.now();
    const late = this.#surplus.filter(({ until }) => until <= now);
    this.#surplus = this.#surplus.filter(({ until }) => until > now);
    this.#giveBack(late);
    for (const seat of this.#seats.values()) {
      const { credits, since, isOut, partition } = seat;
      seat.isQuiet = credits > 0 && now - since >= this.#quietMs;
      if (isOut && now - since >= REJOIN_MS) void this.#joinAgain(partition);
    }
    this.#share();
  }

  #giveBack(surplus: readonly Surplus[]): void {
    const { calls } = this.#parts;
    if (calls.isClosed) return;
    for (const partition of new Set(surplus.map((one) => one.partition))) {
      const own = surplus.filter((one) => one.partition === partition);
      const leases = own.map(({ job }) => job.lease);
      calls.make(partition, (port) => port.giveBack(leases)).catch(() => {});
    }
  }
}
