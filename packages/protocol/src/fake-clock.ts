/**
 * A clock for tests, which moves only when a test moves it. `advance` goes from timer to timer and
 * lets everything happen at its own time. So a year of schedule runs in a moment, and a job that is
 * due at noon runs at noon and not at the end of the day.
 */
import type { Clock, Timer } from "./clock.ts";
import { type Duration, parseDuration, TIME, type Time } from "./duration.ts";
import { knownFields } from "./fields.ts";
import { invalid } from "./kinds.ts";

/** Something whose work must finish before time moves on: a Sluice. */
export interface Drained {
  drain(): Promise<void>;
}

interface Alarm extends Timer {
  readonly time: number;
  readonly callback: () => void;
}

/** 1 January 2030, 00:00 UTC: far from zero, so that a mistake of unit shows. */
const START = Date.UTC(2030, 0, 1);

export class FakeClock implements Clock {
  #now: number;
  /** In the order of their making, which is also the order of those of one time. */
  readonly #alarms = new Set<Alarm>();
  readonly #drained = new Set<Drained>();

  constructor(options: { now?: Time } = {}) {
    const { now = START } = knownFields<{ now?: Time }>("clock", options, ["now"]);
    this.#now = TIME.parse("clock.now", now);
  }

  now(): number {
    return this.#now;
  }

  at(time: number, callback: () => void): Timer {
    const alarm: Alarm = { time, callback, cancel: () => void this.#alarms.delete(alarm) };
    this.#alarms.add(alarm);
    return alarm;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#alarms.size;
  }

  /** Drops all timers, as the end of a process does. */
  forget(): void {
    this.#alarms.clear();
  }

  /** Time moves on by this much, and everything that falls due happens. */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(this.#now + parseDuration("clock.advance", duration));
  }

  async advanceTo(time: Time): Promise<void> {
    const until = TIME.parse("clock.advanceTo", time);
    if (until < this.#now) throw invalid("clock.advanceTo", `at least ${this.#now}`, until);
    await this.#settle();
    for (let alarm = this.#next(until); alarm !== undefined; alarm = this.#next(until)) {
      this.#now = Math.max(this.#now, alarm.time);
      this.#alarms.delete(alarm);
      alarm.callback();
      await this.#settle();
    }
    this.#now = until;
    await this.#settle();
  }

  /** Lets everything run that can run now; time does not pass. */
  async drain(sluice?: Drained): Promise<void> {
    await sluice?.drain();
    for (let alarm = this.#next(this.#now); alarm !== undefined; alarm = this.#next(this.#now)) {
      this.#alarms.delete(alarm);
      alarm.callback();
      await this.#settle();
    }
    await this.#settle();
  }

  /** From now on time waits for this one; the answer ends it. `Sluice.open` does it by itself. */
  attach(drained: Drained): () => void {
    this.#drained.add(drained);
    return () => void this.#drained.delete(drained);
  }

  #next(until: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.time <= until && (first === undefined || alarm.time < first.time)) first = alarm;
    }
    return first;
  }

  async #settle(): Promise<void> {
    for (const one of this.#drained) await one.drain();
  }
}
