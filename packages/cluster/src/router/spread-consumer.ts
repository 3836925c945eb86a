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
 *
 * While jobs come from everywhere, credits go out in lots, to one partition after the other. A
 * lot is half of what the caller works on at once, 128 at most; credits wait 2 ms to become one.
 * Divided evenly, a worker of 100 on 12 partitions got 8 jobs at a time, and each cost three
 * times as much.
 */
import type {
  Broker,
  ConsumeOptions,
  Consumer,
  Deliver,
  LeasedJob,
  SluiceError,
  Timer,
} from "@sluice/protocol";
import { toSluiceError } from "@sluice/protocol";
import { GATHER_MS, LOT_MAX, QUIET_MS, REJOIN_MS, SURPLUS_MS } from "../limits.ts";
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

/** One partition as the consumer has it. */
interface PartitionMember {
  readonly partition: number;
  /** Undefined while it joins. */
  consumer: Consumer | undefined;
  /** Where it has joined. */
  port: Broker | undefined;
  /** Credits that it was given and has not used. */
  credits: number;
  /** When it was last given credits, or has sent something. */
  since: number;
  isQuiet: boolean;
  /** It was given credits since it joined. */
  isAsked: boolean;
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
  readonly #members = new Map<number, PartitionMember>();
  readonly #end: () => void;
  readonly #leaveDirectory: () => void;
  #surplus: Surplus[] = [];
  /** Jobs that the caller may still be given. */
  #credits: number;
  /** The most that it ever had: what the caller works on at once. */
  #most: number;
  /** Since when there are credits that wait to become a lot. */
  #freeSince: number | undefined = undefined;
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
    this.#most = this.#credits;
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
    const { calls, queue } = this.#parts;
    const placement = calls.directory.placementOf(queue);
    const joins = placement.map((partition) => this.#join(partition));
    const all = Promise.all(joins);
    // One that is away joins when it is back: the call does not wait for it once another is there.
    const some = Promise.any(joins.map((join, i) => this.#joinedBy(join, placement[i]!)));
    await Promise.race([
      all,
      some.then(
        () => calls.briefly(all),
        () => all,
      ),
    ]);
    const members = [...this.#members.values()];
    const refused = members.filter(({ isOut }) => isOut);
    if (refused.length === members.length) throw this.#refusal(refused);
  }

  async #joinedBy(join: Promise<void>, partition: number): Promise<void> {
    await join;
    const { error } = this.#members.get(partition)!;
    if (error !== undefined) throw error;
  }

  #refusal(refused: readonly PartitionMember[]): SluiceError {
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
    const members = [...this.#members.values()];
    const stops = await Promise.allSettled(members.map(({ consumer }) => consumer?.stop()));
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

  /** Joins, for the first time or after it was refused or ended there. */
  async #join(partition: number): Promise<void> {
    const since = this.#parts.calls.clock.now();
    const member: PartitionMember = {
      partition,
      consumer: undefined,
      port: undefined,
      credits: 0,
      since,
      isQuiet: false,
      isAsked: false,
      isOut: false,
      error: undefined,
    };
    this.#members.set(partition, member);
    await this.#take(member);
    this.#look();
  }

  /** Joins with the credits that the partition was given and has not used. */
  async #take(member: PartitionMember): Promise<void> {
    const { calls, copies, queue, options } = this.#parts;
    try {
      const consumer = await copies.made(queue, member.partition, (port) => {
        member.port = port;
        const own = { ...options, credits: member.credits };
        return port.consume(queue, own, (jobs) => this.#receive(member, jobs));
      });
      member.consumer = consumer;
      if (this.#isOver || this.#stopping !== undefined) return await consumer.stop();
      void consumer.over.then(() => this.#ended(member));
    } catch (error) {
      member.error = toSluiceError(error);
      member.isOut = true;
      member.since = calls.clock.now();
    }
  }

  /** The queue has been spread further. */
  #joinNew(): void {
    if (this.#isOver || this.#stopping !== undefined) return;
    const { calls, queue } = this.#parts;
    for (const partition of calls.directory.placementOf(queue)) {
      if (!this.#members.has(partition)) void this.#join(partition);
    }
  }

  /** It was ended there, or the partition has moved: then it joins at the next owner. */
  async #ended(member: PartitionMember): Promise<void> {
    const { calls } = this.#parts;
    const isLeft = this.#isOver || this.#stopping !== undefined || calls.isClosed;
    if (isLeft || calls.port(member.partition) === member.port) return this.#out(member);
    member.consumer = undefined;
    await this.#take(member);
    this.#look();
  }

  #out(member: PartitionMember): void {
    member.isOut = true;
    member.credits = 0;
    member.since = this.#parts.calls.clock.now();
    if (this.#stopping === undefined) this.#look();
  }

  // Jobs come

  #receive(member: PartitionMember, jobs: LeasedJob[]): void {
    const { partition } = member;
    const { clock } = this.#parts.calls;
    member.credits -= jobs.length;
    member.since = clock.now();
    member.isQuiet = false;
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

  /** Hands out what waits here, and lets more come; `isIdle`: a partition has had too many. */
  #share(isIdle = false): void {
    if (this.#isOpening || this.#isOver || this.#stopping !== undefined) return;
    this.#handOutSurplus();
    this.#grant(this.#joined(), isIdle);
    this.#setTimer();
  }

  #handOutSurplus(): void {
    const some = this.#surplus.splice(0, this.#credits);
    if (some.length === 0) return;
    this.#credits -= some.length;
    this.#parts.deliver(some.map(({ job }) => job));
  }

  #joined(): PartitionMember[] {
    return [...this.#members.values()].filter(
      ({ isOut, consumer }) => !isOut && consumer !== undefined,
    );
  }

  /**
   * Credits that no partition has which might use them, to those that have the fewest. They go out
   * in lots: what a partition dispatches, commits and delivers at once must not shrink with the
   * number of partitions, because each of these costs as much for one job as for a hundred.
   */
  #grant(members: readonly PartitionMember[], isIdle: boolean): void {
    const lively = members.filter(({ isQuiet }) => !isQuiet);
    const asked = lively.reduce((sum, { credits }) => sum + credits, 0);
    let free = this.#credits - asked;
    if (free <= 0 || lively.length === 0) {
      this.#freeSince = undefined;
      return;
    }
    const now = this.#parts.calls.clock.now();
    this.#freeSince ??= now;
    const lot = isIdle ? 1 : this.#lot(members.length);
    // A worker that is not done soon is not waited for.
    if (free < lot && now - this.#freeSince < GATHER_MS) return;
    this.#freeSince = undefined;
    const turn = this.#turn++ % lively.length;
    const order = [...lively.slice(turn), ...lively.slice(0, turn)];
    order.sort((a, b) => a.credits - b.credits);
    const takers = Math.max(1, Math.min(order.length, Math.floor(free / lot)));
    for (const [i, member] of order.slice(0, takers).entries()) {
      const part = Math.ceil(free / (takers - i));
      if (part <= 0) break;
      free -= part;
      member.credits += part;
      member.isAsked = true;
      member.since = now;
      member.consumer!.addCredits(part);
    }
  }

  /** Half of what the caller works on at once, so that one lot is on its way while it does. */
  #lot(members: number): number {
    this.#most = Math.max(this.#most, this.#credits);
    if (members === 1) return 1;
    const half = Math.min(LOT_MAX, Math.ceil(this.#most / 2));
    return Math.max(Math.ceil(this.#most / members), half);
  }

  /** When a partition falls quiet whose credits others could use, or a job waited too long. */
  #setTimer(): void {
    const { clock } = this.#parts.calls;
    this.#timer?.cancel();
    this.#timer = undefined;
    const times = this.#surplus.map(({ until }) => until);
    if (this.#freeSince !== undefined) times.push(this.#freeSince + GATHER_MS);
    const members = this.#joined();
    const now = clock.now();
    if (this.#credits > 0 && members.some(({ credits }) => credits === 0)) {
      for (const { credits, since, isQuiet } of members) {
        if (credits > 0 && !isQuiet) times.push(since + this.#quietMs);
      }
    }
    for (const { isOut, since } of this.#members.values()) if (isOut) times.push(since + REJOIN_MS);
    if (times.length === 0) return;
    const next = times.reduce((least, time) => Math.min(least, time));
    this.#timer = clock.at(Math.max(next, now), () => this.#look());
  }

  /** Looks at the state of all members, and at what has waited for long. */
  #look(): void {
    if (this.#isOpening || this.#isOver || this.#stopping !== undefined) return;
    if ([...this.#members.values()].every(({ isOut }) => isOut)) return this.#finish();
    const now = this.#parts.calls.clock.now();
    const late = this.#surplus.filter(({ until }) => until <= now);
    this.#surplus = this.#surplus.filter(({ until }) => until > now);
    this.#giveBack(late);
    let isIdle = false;
    for (const member of this.#members.values()) {
      const { credits, since, isOut, partition, isQuiet, isAsked } = member;
      member.isQuiet = credits > 0 && now - since >= this.#quietMs;
      // With those that have never had a credit too: they may have jobs that are not known.
      if ((member.isQuiet && !isQuiet) || !isAsked) isIdle = true;
      if (isOut && now - since >= REJOIN_MS) void this.#join(partition);
    }
    this.#share(isIdle);
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
