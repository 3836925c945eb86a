import type { Drive, Taken } from "./drive.ts";

/** Workers that need a time for each job, as `workMs` answers when it begins, and then end it. */
export class Crew {
  readonly #drive: Drive;
  readonly #workMs: (taken: Taken) => number;
  #running: { taken: Taken; until: number }[] = [];

  constructor(drive: Drive, workMs: (taken: Taken) => number) {
    this.#drive = drive;
    this.#workMs = workMs;
  }

  /** Runs to a time; `quiet` is called with each span in which nothing happens. */
  runTo(
    end: number,
    began: (taken: Taken) => void = () => {},
    quiet: (ms: number) => void = () => {},
  ): void {
    const drive = this.#drive;
    for (;;) {
      for (const each of this.#running) if (each.until <= drive.now) drive.ack(each.taken);
      this.#running = this.#running.filter(({ until }) => until > drive.now);
      for (const taken of drive.dispatchNow()) {
        began(taken);
        this.#running.push({ taken, until: taken.at + this.#workMs(taken) });
      }
      const ends = this.#running.map(({ until }) => until);
      const next = Math.min(end, drive.engine.nextWake(drive.now), ...ends);
      quiet(next - drive.now);
      drive.now = next;
      if (next === end) return;
    }
  }

  /** What begins in so many milliseconds. */
  runFor(ms: number): Taken[] {
    const begun: Taken[] = [];
    this.runTo(this.#drive.now + ms, (taken) => begun.push(taken));
    return begun;
  }
}
