import type { Engine } from "@sluice/engine";
import type { Clock, Timer } from "@sluice/protocol";
import type { Consumers } from "./consumers.ts";
import type { Journal } from "./journal.ts";

/** Leases of one call to the engine, and calls of one turn of the event loop. */
const LEASES_PER_CALL = 500;
const CALLS_PER_TURN = 8;

/**
 * Dispatched jobs go out when they are in the log. Stop dispatching while a commit is slower than
 * this. Otherwise the backlog goes out in one burst when the log recovers, more than gates allow.
 */
const HELD_UP_MS = 50;

/** What the pump keeps going. */
export interface Pumped {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly consumers: Consumers;
  beforeDispatch(): void;
  /** When to look again though the engine needs no wake; Infinity: never. */
  wallCheckAt(): number;
  /** What is to be said to others of what went out. */
  afterDispatch(): void;
  afterCommit(): void;
}

/**
 * Keeps the engine going: after calls have changed something, and when its next wake has come, it
 * lets the engine dispatch, hands the facts to the log and sets the one timer.
 *
 *   idle     nothing to do before the timer fires
 *   called   a run is scheduled for the end of this turn: calls that come until then share it
 *   paused   a run had more to do than one turn should take: it continues in the next turn
 */
export class Pump {
  readonly #of: Pumped;
  #state: "idle" | "called" | "paused" = "idle";
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #ranAt = performance.now();
  #givesWay = false;
  /** By the clock of the broker. */
  #committingSince: number | undefined;

  constructor(of: Pumped) {
    this.#of = of;
    of.journal.onCommit = () => {
      // What has gathered meanwhile may be on its way already.
      this.#committingSince = of.journal.isCommitting ? of.clock.now() : undefined;
      of.afterCommit();
      this.call();
    };
  }

  /** How long it has left alone what is to be done now. */
  get overdueMs(): number {
    const { clock, engine } = this.#of;
    const now = clock.now();
    return engine.nextWake(now) > now ? 0 : performance.now() - this.#ranAt;
  }

  /** Something has changed. */
  call(): void {
    if (this.#state !== "idle") return;
    this.#state = "called";
    queueMicrotask(this.#run);
  }

  /**
   * A receiver has blocked this process. Before leases expire, their holders get a turn to ack or
   * extend them.
   */
  giveWay(): void {
    this.#givesWay = true;
  }

  /** Does now what a call would do at the end of this turn. */
  runNow(): void {
    if (!this.#isStopped && this.#of.journal.failure === undefined && !this.#isHeldUp) {
      this.#of.beforeDispatch();
      this.#dispatch();
      this.#of.afterDispatch();
      this.#flush();
    }
    this.call();
  }

  /** No job goes out any more; what is written still goes to the log. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  readonly #run = (): void => {
    this.#state = "idle";
    this.#ranAt = performance.now();
    const { journal } = this.#of;
    if (this.#isStopped) return journal.flush();
    if (journal.failure !== undefined) return;
    if (this.#givesWay) {
      this.#givesWay = false;
      this.#state = "paused";
      setImmediate(this.#run);
      return journal.flush();
    }
    // The end of the commit calls again.
    if (this.#isHeldUp) return;
    this.#of.beforeDispatch();
    const isDone = this.#dispatch();
    this.#of.afterDispatch();
    this.#flush();
    if (isDone) return this.#setTimer();
    this.#state = "paused";
    setImmediate(this.#run);
  };

  #flush(): void {
    const { journal, clock } = this.#of;
    journal.flush();
    if (journal.isCommitting) this.#committingSince ??= clock.now();
  }

  get #isHeldUp(): boolean {
    const { journal, clock } = this.#of;
    const since = this.#committingSince ?? Number.POSITIVE_INFINITY;
    return journal.isCommitting && clock.now() - since > HELD_UP_MS;
  }

  /** Answers whether all was done that can be done now. */
  #dispatch(): boolean {
    const { clock, consumers, engine } = this.#of;
    for (let calls = 0; calls < CALLS_PER_TURN; calls++) {
      const now = clock.now();
      if (engine.nextWake(now) > now) return true;
      const leases = engine.dispatch(now, LEASES_PER_CALL);
      if (leases.length > 0) consumers.grant(leases);
    }
    return false;
  }

  #setTimer(): void {
    const { clock, engine } = this.#of;
    let wake = engine.nextWake(clock.now());
    const checkAt = this.#of.wallCheckAt();
    if (checkAt < wake) {
      // A timer that fires before that does as well: no new one with every run.
      if (this.#timer !== undefined && this.#timerAt <= checkAt) return;
      wake = checkAt;
    }
    if (wake === this.#timerAt && this.#timer !== undefined) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = wake;
    if (wake === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.at(wake, () => {
      this.#timer = undefined;
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.call();
    });
    // A caller that waits for a job keeps the process alive. A job that is due later does not.
    this.#timer.unref?.();
  }
}
