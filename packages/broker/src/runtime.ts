import { Engine, type Fact } from "@sluice/engine";
import type { Log } from "@sluice/log";
import { type Clock, SluiceError, type Timer } from "@sluice/protocol";
import { Chunks } from "./chunks.ts";
import { Cleaner } from "./cleaner.ts";
import { Consumers } from "./consumers.ts";
import { Ends } from "./ends.ts";
import { eventOf, Feed } from "./feed.ts";
import { HeldGroups } from "./held-groups.ts";
import { Journal } from "./journal.ts";
import { Operations } from "./operations.ts";
import type { BrokerOptions } from "./options.ts";
import { Pump } from "./pump.ts";
import { Recovery } from "./recovery.ts";
import { toPortError } from "./refuse.ts";
import { Room } from "./room.ts";

/** Time as the engine sees it: it goes on from the last fact when the clock is behind that. */
class AheadClock implements Clock {
  readonly #clock: Clock;
  aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.aheadMs;
  }

  at(time: number, callback: () => void): Timer {
    return this.#clock.at(time - this.aheadMs, callback);
  }

  /** How far the wall clock is ahead of this one. */
  wallAheadMs(): number {
    return (this.#clock.wall?.() ?? this.#clock.now()) - this.now();
  }
}

/**
 * The parts of a broker, wired together: the engine decides, the journal remembers, the pump keeps
 * both going, the rest listens.
 */
export class Runtime {
  readonly engine: Engine;
  readonly chunks: Chunks;
  readonly journal: Journal;
  readonly clock: AheadClock;
  readonly pump: Pump;
  readonly consumers: Consumers;
  readonly feed = new Feed();
  readonly ends: Ends;
  readonly room: Room;
  readonly operations: Operations;
  readonly heldGroups: HeldGroups;
  readonly options: BrokerOptions;
  readonly log: Log;
  /** What workers say of jobs they hold: shown, not kept over a restart. */
  readonly progress = new Map<number, unknown>();
  #cleaner: Cleaner | undefined;
  #isRecovering = true;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(log: Log, clock: Clock, options: BrokerOptions) {
    this.log = log;
    this.options = options;
    this.clock = new AheadClock(clock);
    this.chunks = new Chunks(log, options.payloadMemoryBytes);
    this.engine = new Engine({
      seed: options.seed,
      reserve: options.reserve,
      facts: (fact) => this.#hear(fact),
      onBodyGone: (body, sizeBytes) => {
        if (typeof body === "number") this.chunks.release(body, sizeBytes);
      },
    });
    this.journal = new Journal(log, this.chunks, (error) => this.#failed(error));
    const now = (): number => this.clock.now();
    const wake = (): void => this.pump.call();
    const { engine, journal, chunks } = this;
    this.ends = new Ends(engine, journal);
    this.heldGroups = new HeldGroups(engine, this.clock, wake);
    this.room = new Room(engine, this.clock, this.heldGroups, wake);
    this.operations = new Operations(engine, journal, now);
    const onDamage = (error: unknown): void => journal.fail(toPortError(error));
    this.consumers = new Consumers({
      engine,
      journal,
      chunks,
      now,
      wake,
      onDamage,
      onHeldUp: () => this.pump.giveWay(),
    });
    this.pump = new Pump(this);
  }

  now(): number {
    return this.clock.now();
  }

  async recover(): Promise<void> {
    const recovery = new Recovery(this.log, this.engine, this.chunks);
    const { lastAt, marks } = await recovery.run(this.options.onProgress);
    this.#isRecovering = false;
    this.clock.aheadMs = Math.max(0, lastAt - this.clock.now());
    const { engine, journal, chunks, log } = this;
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
    this.#cleaner.begin();
    this.heldGroups.hold(engine.heldGroups());
    this.pump.call();
    await this.journal.durable();
  }

  /** What a run of the pump does before jobs go out. */
  beforeDispatch(): void {
    this.consumers.applyCredits();
    this.room.look();
  }

  /** What it does when a commit is durable. */
  afterCommit(): void {
    this.#cleaner?.look();
  }

  /** Refuses a call that can have no answer any more. */
  check(): void {
    if (this.journal.failure !== undefined) throw this.journal.failure;
    if (this.#isClosed) throw new SluiceError("CLOSED", "the broker is closed");
  }

  /** Makes one call to the engine; what it refuses is thrown in the words of the port. */
  call<T>(call: (engine: Engine, now: number) => T): T {
    this.check();
    try {
      return call(this.engine, this.now());
    } catch (error) {
      throw toPortError(error);
    } finally {
      this.pump.call();
    }
  }

  /** The same, and answers when what it changed is durable. */
  async change<T>(call: (engine: Engine, now: number) => T): Promise<T> {
    const result = this.call(call);
    await this.journal.durable();
    return result;
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#cleaner?.stop();
    this.heldGroups.stop();
    const closed = new SluiceError("CLOSED", "the broker is closed");
    this.consumers.leaveAll();
    this.room.failAll(closed);
    await this.#flushed();
    this.pump.stop();
    // What was on its way is given back when it finds nobody there.
    await this.consumers.sent();
    await this.#flushed();
    this.ends.failAll(closed);
    this.feed.close();
    await this.log.close();
  }

  /** All that is written is in the log, or the log has failed. */
  async #flushed(): Promise<void> {
    this.pump.call();
    await this.journal.durable().catch(() => {});
  }

  #hear(fact: Fact): void {
    this.journal.write(fact, this.engine);
    if (fact.fact === "ended" || fact.fact === "dead" || fact.fact === "retried") {
      if (this.progress.size > 0) this.progress.delete(fact.id);
      const queue = this.engine.queueOf(fact.id) ?? "";
      this.ends.hear(fact, queue);
    } else if (fact.fact === "group-ended") this.ends.hearGroup(fact.name);
    if (this.feed.isHeard) this.#tellEvent(fact);
  }

  #tellEvent(fact: Fact): void {
    const event = eventOf(fact, this.engine);
    if (event !== undefined) this.journal.whenDurable(() => this.feed.tell(event));
  }

  #failed(error: SluiceError): void {
    this.pump.stop();
    this.#cleaner?.stop();
    this.heldGroups.stop();
    this.ends.failAll(error);
    this.room.failAll(error);
    this.consumers.endAll();
    if (!this.#isRecovering) {
      this.feed.tell({ at: this.now(), event: "failed", error: error.toJSON() });
    }
    this.options.onFailure?.(error);
  }
}
