// What is known of the ticks of one schedule, and what must hold of them.
//
// Times are those on the wall, and all ticks are at multiples of a period. While a broker runs each
// tick must make a job; of those that fell due while none ran, or over which the wall stepped, as
// many as `catchUp` says. A broker that died may have done more than it could tell: between the
// last that was confirmed and its end nothing is held against it.

import type { CatchUp, Overlap } from "@sluice/engine";
import { demand } from "../demand.ts";

export interface Planned {
  readonly queue: string;
  readonly name: string;
  readonly periodMs: number;
  readonly catchUp: CatchUp;
  readonly overlap: Overlap;
  // Nothing but a tick's own rules decides whether it makes a job.
  readonly isPlain: boolean;
}

export class TickBook {
  readonly plan: Planned;
  readonly #jobs = new Map<number, string>();
  readonly #wanted = new Set<number>();
  readonly #unwanted = new Set<number>();
  // Delivered jobs for which no ack or nack was sent yet.
  readonly #running = new Set<string>();
  // Up to here all ticks are known to be decided.
  #high: number;
  // Until when a broker may have decided more.
  #seen: number;
  #since: number;
  // Ticks up to here may have been decided by a broker that could not tell, by another wall.
  #doubted: number;
  #isLate = false;

  constructor(plan: Planned, wall: number) {
    this.plan = plan;
    this.#high = wall;
    this.#seen = wall;
    this.#since = wall;
    this.#doubted = wall;
  }

  get name(): string {
    return `${this.plan.queue}/${this.plan.name}`;
  }

  get count(): number {
    return this.#jobs.size;
  }

  delivered(id: string, tick: number): void {
    const known = this.#jobs.get(tick);
    demand(known === undefined || known === id, "a tick never twice", () => {
      return `${this.name} ${new Date(tick).toISOString()} has the jobs ${known} and ${id}`;
    });
    this.#jobs.set(tick, id);
    if (this.plan.overlap === "allow") return;
    const other = [...this.#running].find((one) => one !== id);
    demand(other === undefined, "no overlap", () => `${this.name}: ${id} beside ${other}`);
    this.#running.add(id);
  }

  // A worker has begun to end the job.
  ending(id: string): void {
    this.#running.delete(id);
  }

  // A broker opens, or the wall steps.
  begins(wall: number): void {
    this.#since = wall;
    this.#doubted = this.#seen;
    this.#isLate = true;
  }

  // The broker answers at this time: what fell due before is decided, and durable.
  confirmed(wall: number): void {
    if (!this.plan.isPlain) return;
    if (this.#isLate) this.#judgeLate();
    this.#isLate = false;
    for (const tick of this.#ticks(Math.max(this.#since, this.#high), wall)) this.#want(tick);
    this.#high = Math.max(this.#high, wall);
    this.#seen = Math.max(this.#seen, wall);
  }

  // The broker is gone, or its wall has another time from now on.
  ends(wall: number): void {
    this.#seen = Math.max(this.#seen, wall);
  }

  #judgeLate(): void {
    const { catchUp } = this.plan;
    const late = this.#ticks(this.#high, this.#since);
    for (const [i, tick] of late.entries()) {
      const isRun = catchUp === "all" || (catchUp === "one" && i === late.length - 1);
      if (isRun) this.#want(tick);
      else if (tick > this.#doubted) this.#unwanted.add(tick);
    }
    this.#high = Math.max(this.#high, this.#since);
  }

  #want(tick: number): void {
    if (tick > this.#doubted || this.plan.catchUp === "all") this.#wanted.add(tick);
  }

  // From one time on, up to another and without it.
  #ticks(from: number, to: number): number[] {
    const { periodMs } = this.plan;
    const ticks: number[] = [];
    for (let tick = Math.ceil(from / periodMs) * periodMs; tick < to; tick += periodMs) {
      ticks.push(tick);
    }
    return ticks;
  }

  // All jobs that there are were delivered.
  judge(): void {
    for (const tick of this.#wanted) {
      demand(this.#jobs.has(tick), "none missing beyond catchUp", () => {
        return `${this.name} (${this.plan.catchUp}) has no job for ${new Date(tick).toISOString()}`;
      });
    }
    for (const tick of this.#unwanted) {
      demand(!this.#jobs.has(tick), "no more than catchUp", () => {
        return `${this.name} (${this.plan.catchUp}) has run ${new Date(tick).toISOString()}`;
      });
    }
  }
}
