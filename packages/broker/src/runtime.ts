import { basename } from "node:path";
import { Engine, type Fact } from "@sluice/engine";
import type { Log } from "@sluice/log";
import { type Clock, letterQueueConfig, SluiceError, type Timer, wallTime } from "@sluice/protocol";
import { Chunks } from "./chunks.ts";
import { Cleaner } from "./cleaner.ts";
import { Consumers } from "./consumers.ts";
import { EngineCalls } from "./engine-calls.ts";
import { Ends, EventFeed, eventOf } from "./events.ts";
import { Features } from "./features.ts";
import { HeldGroups } from "./held-groups.ts";
import { Journal, type Told } from "./journal.ts";
import { LeaseTokens } from "./lease-tokens.ts";
import { SharedGates, sharing } from "./lending/shared-gates.ts";
import { CATCH_UP_MS, WALL_CHECK_MS, WALL_STEP_MS } from "./limits.ts";
import { type BrokerOptions, chunkBytesOf, spanBytesOf } from "./options.ts";
import { FailureScripts } from "./policy/failure-scripts.ts";
import { Policies } from "./policy/policies.ts";
import { ProgressReports } from "./progress.ts";
import { Pump } from "./pump.ts";
import { Recovery } from "./recovery.ts";
import { toPortError } from "./refuse.ts";
import { ScheduleTicks } from "./schedules/schedule-ticks.ts";
import { WaitingAdds } from "./waiting-adds.ts";

/**
 * Time as the engine sees it. It continues from the last fact and follows the clock, but never
 * backwards, and never by much more than the log's own clock has counted since. So if a log moves
 * to a machine whose clock is minutes ahead, no lease ends early and no bucket fills.
 */
class AheadClock implements Clock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  goOnFrom(lastAt: number, sinceMs: number): void {
    const now = this.#clock.now();
    this.#aheadMs = lastAt + Math.min(Math.max(0, now - lastAt), sinceMs + CATCH_UP_MS) - now;
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  at(time: number, callback: () => void): Timer {
    return this.#clock.at(time - this.#aheadMs, callback);
  }

  /** The time on the wall. */
  wall(): number {
    return wallTime(this.#clock);
  }

  /** Whether the time on the wall can step. */
  get hasWall(): boolean {
    return this.#clock.wall !== undefined;
  }
}

/**
 * The parts of a broker, wired together: the engine decides, the journal remembers, the pump keeps
 * both going, the rest listens.
 */
export class Runtime {
  readonly engine: Engine;
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly journal: Journal;
  readonly clock: AheadClock;
  /** The clock that it was given; calls are bounded by it. */
  readonly givenClock: Clock;
  readonly pump: Pump;
  readonly consumers: Consumers;
  readonly features: Features;
  readonly tokens = new LeaseTokens();
  readonly feed = new EventFeed();
  readonly ends: Ends;
  readonly waitingAdds: WaitingAdds;
  readonly heldGroups: HeldGroups;
  readonly policies: Policies;
  readonly failureScripts: FailureScripts;
  readonly options: BrokerOptions;
  readonly log: Log;
  readonly progress: ProgressReports;
  readonly scheduleTicks: ScheduleTicks;
  /** What is said to other partitions that have the same gates. */
  readonly sharing: SharedGates | undefined;
  #cleaner: Cleaner | undefined;
  /** What the engine gathers during a call. */
  readonly #told: Told = { facts: [], gone: { bodies: [], sizes: [] } };
  #isRecovering = true;
  #closing: Promise<void> | undefined;

  constructor(log: Log, clock: Clock, options: BrokerOptions) {
    this.log = log;
    // Here and not where logs are opened: the bound of the cleaner holds for every log.
    log.limitSpans(spanBytesOf(options));
    this.options = options;
    this.clock = new AheadClock(clock);
    this.givenClock = clock;
    this.chunks = new Chunks(log, options.payloadMemoryBytes, chunkBytesOf(options));
    this.engine = new Engine({
      letterQueue: letterQueueConfig,
      seed: options.seed,
      reserve: options.reserve,
      keptMax: {
        jobs: options.keptJobsMax,
        resultBytes: options.keptResultBytesMax,
        payloadBytes: options.keptPayloadBytesMax,
      },
      ...this.#told,
      ...sharing(options.homes),
    });
    this.journal = new Journal(log, this.chunks, this.engine, this.#told, (error, whole) =>
      this.#failed(error, whole),
    );
    this.journal.onFact = (fact) => this.#hear(fact);
    const now = (): number => this.clock.now();
    const wake = (): void => this.pump.call();
    const { engine, journal, chunks } = this;
    this.features = new Features(engine, options.level, now);
    this.ends = new Ends(engine, journal, this.chunks);
    this.heldGroups = new HeldGroups(engine, this.clock, wake);
    this.progress = new ProgressReports(engine, this.clock, wake);
    this.waitingAdds = new WaitingAdds(engine, this.clock, this.heldGroups, wake);
    this.calls = new EngineCalls(engine, journal, now, wake);
    const onDamage = (error: unknown): void => journal.fail(toPortError(error));
    this.consumers = new Consumers({
      engine,
      journal,
      chunks,
      tokens: this.tokens,
      now,
      wake,
      onDamage,
      onHeldUp: () => this.pump.giveWay(),
    });
    this.policies = new Policies(engine, this.clock, (queue, reason, error) => {
      this.feed.tell({ at: now(), event: "policy-failed", queue, reason, error });
    });
    this.failureScripts = new FailureScripts(this);
    this.scheduleTicks = new ScheduleTicks({ engine, policies: this.policies, now, wake });
    this.pump = new Pump(this);
    if (options.homes !== undefined) this.sharing = new SharedGates(this, options.homes, wake);
  }

  now(): number {
    return this.clock.now();
  }

  async recover(): Promise<void> {
    const recovery = new Recovery(this.log, this.engine, this.chunks, this.#told.gone);
    const { lastAt, lastStoredAt, marks } = await recovery.run(this.options.onProgress);
    this.#isRecovering = false;
    const { engine, journal, chunks, log } = this;
    if (lastAt > 0) {
      this.clock.goOnFrom(lastAt, sinceStored(this.log, lastStoredAt));
      // The wall may have stepped: a lease that is over now must not end its job by the old one.
      this.lookAtWall();
    }
    engine.endReplay(this.now());
    for (const queue of engine.queries.queueNames())
      this.failureScripts.watch(queue, engine.queueConfig(queue));
    const { segmentBytes } = this.options;
    this.#cleaner = new Cleaner(
      {
        engine,
        journal,
        chunks,
        log,
        segmentBytes,
        now: () => this.now(),
        wake: () => this.pump.call(),
        onError: (error) => journal.fail(toPortError(error)),
      },
      marks,
    );
    const { leaseSecret, isRestored } = this.options;
    if (isRestored) engine.setLeaseSecret(leaseSecret, this.now(), true);
    this.#cleaner.begin(isRestored);
    // Behind the mark with which a new log begins: a replay passes over what is before it.
    this.features.raise();
    if (engine.queries.leaseSecret === undefined) {
      engine.setLeaseSecret(leaseSecret, this.now());
    }
    this.tokens.use(engine.queries.leaseSecret!);
    this.heldGroups.hold(engine.queries.heldGroups());
    this.#tellTorn();
    this.lookAtWall();
    this.sharing?.begin();
    void this.scheduleTicks.begin();
    this.pump.call();
    await Promise.all([this.journal.durable(), this.policies.warmUp()]);
  }

  #tellTorn(): void {
    if (this.log.torn === undefined) return;
    const { file, sizeBytes: bytes, aside } = this.log.torn;
    // Events reach callers over the network: where the data lies is not theirs to know.
    const kept = aside === undefined ? {} : { aside: basename(aside) };
    this.feed.tellFirst({ at: this.now(), event: "torn", bytes, file: basename(file), ...kept });
  }

  /** Tells the engine when the wall clock has stepped: `runAt` and `deadline` go by it. */
  lookAtWall(): void {
    const { clock, engine } = this;
    const aheadMs = Math.round(clock.wall() - clock.now());
    if (Math.abs(aheadMs - engine.wall.aheadMs) < WALL_STEP_MS) return;
    engine.setWallAhead(aheadMs, clock.now());
    this.scheduleTicks.stepped();
    this.pump.call();
  }

  /** When to look at the wall clock again, though nothing else is to be done. */
  wallCheckAt(): number {
    const { clock, engine } = this;
    const isTimed = clock.hasWall && clock.wall() < engine.wall.timedUntil;
    return isTimed ? clock.now() + WALL_CHECK_MS : Number.POSITIVE_INFINITY;
  }

  /** What a run of the pump does before jobs go out. */
  beforeDispatch(): void {
    this.lookAtWall();
    this.consumers.applyCredits();
    if (this.waitingAdds.queues.size > 0) this.waitingAdds.look();
    if (!this.scheduleTicks.isIdle) this.scheduleTicks.look();
  }

  afterDispatch(): void {
    const overdue = this.engine.takeOverdue();
    if (overdue.length > 0) this.failureScripts.leasesOver(overdue);
    this.sharing?.look();
  }

  /** What it does when a commit is durable. */
  afterCommit(): void {
    this.#cleaner?.look();
  }

  /** Adds have to wait until the cleaner has come further. */
  get isCleanerBehind(): boolean {
    return this.#cleaner?.isBehind ?? false;
  }

  async cleanerProgress(): Promise<void> {
    await this.#cleaner?.progress();
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.calls.close();
    const scriptsOver = this.policies.close();
    this.#cleaner?.stop();
    this.heldGroups.stop();
    this.sharing?.stop();
    this.scheduleTicks.stop();
    const closed = new SluiceError("CLOSED", "the broker is closed");
    this.progress.flushAll();
    this.consumers.leaveAll();
    this.waitingAdds.failAll(closed);
    await this.#flushed();
    this.pump.stop();
    // Jobs on their way are given back when their consumer is gone.
    await this.consumers.sent();
    await this.#flushed();
    this.ends.failAll(closed);
    this.feed.close();
    await scriptsOver;
    await this.log.close();
  }

  /** All that is written is in the log, or the log has failed. */
  async #flushed(): Promise<void> {
    this.pump.call();
    await this.journal.durable().catch(() => {});
  }

  #hear(fact: Fact): void {
    if (fact.fact === "ended" || fact.fact === "dead") {
      const { progress } = this;
      if (fact.fact === "ended" && progress.jobs.size > 0) progress.forget(fact.id);
      this.ends.hear(fact);
    } else if (fact.fact === "group-ended") this.ends.hearGroup(fact.name);
    else if (fact.fact === "ticked" || fact.fact === "schedule") this.scheduleTicks.hear(fact);
    else if (fact.fact === "stored") this.policies.stored(fact.store);
    else if (fact.fact === "queue") this.#hearQueue(fact);
    if (this.feed.isHeard) this.#tellEvent(fact);
  }

  #hearQueue({ name, config }: Extract<Fact, { fact: "queue" }>): void {
    if (config.policy === undefined) this.policies.forget(name);
    this.failureScripts.watch(name, config);
  }

  #tellEvent(fact: Fact): void {
    const event = eventOf(fact, this.engine);
    if (event !== undefined) this.journal.whenDurable(() => this.feed.tell(event));
  }

  #failed(error: SluiceError, whole: SluiceError): void {
    this.pump.stop();
    void this.policies.close();
    this.#cleaner?.stop();
    this.heldGroups.stop();
    this.progress.stop();
    this.sharing?.stop();
    this.scheduleTicks.stop();
    this.ends.failAll(error);
    this.waitingAdds.failAll(error);
    this.consumers.endAll();
    if (!this.#isRecovering) {
      this.feed.tell({ at: this.now(), event: "failed", error: error.toJSON() });
    }
    this.options.onFailure?.(whole);
  }
}

/** How long ago the last fact was stored, as far as the log can tell. */
function sinceStored({ replayedAt }: Log, storedAt: number | undefined): number {
  if (replayedAt === undefined || storedAt === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, replayedAt - storedAt);
}
