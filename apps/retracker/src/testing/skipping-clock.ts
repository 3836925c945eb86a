/** The real clock, which a test can also move forward. */
import { type Clock, SystemClock, type Timer } from "sluice";

interface Alarm {
  readonly time: number;
  readonly callback: () => void;
  timer: Timer;
}

export class SkippingClock implements Clock {
  readonly #clock = new SystemClock();
  readonly #alarms = new Set<Alarm>();
  #skipped = 0;

  now(): number {
    return this.#clock.now() + this.#skipped;
  }

  at(time: number, callback: () => void): Timer {
    const alarm: Alarm = { time, callback, timer: this.#wait(time, () => this.#ring(alarm)) };
    this.#alarms.add(alarm);
    const cancel = (): void => {
      this.#alarms.delete(alarm);
      alarm.timer.cancel();
    };
    return { cancel, unref: () => alarm.timer.unref?.() };
  }

  skip(ms: number): void {
    this.#skipped += ms;
    for (const alarm of this.#alarms) {
      alarm.timer.cancel();
      alarm.timer = this.#wait(alarm.time, () => this.#ring(alarm));
      alarm.timer.unref?.();
    }
  }

  #wait(time: number, callback: () => void): Timer {
    return this.#clock.at(time - this.#skipped, callback);
  }

  #ring(alarm: Alarm): void {
    this.#alarms.delete(alarm);
    alarm.callback();
  }
}
