/**
 * How long the jobs of the busiest lanes of a queue waited of late. A lane has the place that its
 * row leads to. Of two lanes with one place, the busier keeps it: each job of the other takes one
 * off the holder's heat, and the place is free when that is used up. So a job costs the same
 * however many lanes there are, and of the queue's lanes those that run the most are remembered.
 */
const PLACES = 128;

/** About so many of the last jobs are in the mean. */
const JOBS = 16;

/** More heat would keep a lane that has become quiet in its place for too long. */
const HEAT_MAX = 1_000;

export class LaneWaits {
  readonly #lanes = new Int32Array(PLACES);
  readonly #heats = new Uint16Array(PLACES);
  readonly #waitsMs = new Float64Array(PLACES);

  /** Counts a job of a lane; `isFirst`: nothing of the lane ran before. */
  count(lane: number, waitMs: number, isFirst: boolean): void {
    const place = lane & (PLACES - 1);
    if (this.#lanes[place] !== lane || isFirst) return this.#takePlace(place, lane, waitMs);
    const heat = this.#heats[place]!;
    if (heat < HEAT_MAX) this.#heats[place] = heat + 1;
    const mean = this.#waitsMs[place]!;
    // A busy lane pays for no division.
    const share = heat < JOBS ? 1 / (heat + 1) : 1 / JOBS;
    this.#waitsMs[place] = mean + (waitMs - mean) * share;
  }

  #takePlace(place: number, lane: number, waitMs: number): void {
    if (this.#lanes[place] !== lane && this.#heats[place]! > 0) {
      this.#heats[place]!--;
      return;
    }
    this.#lanes[place] = lane;
    this.#heats[place] = 1;
    this.#waitsMs[place] = waitMs;
  }

  /** The mean of the last jobs; undefined for a lane that is not among the busiest. */
  read(lane: number): number | undefined {
    const place = lane & (PLACES - 1);
    return this.#lanes[place] === lane ? this.#waitsMs[place] : undefined;
  }
}
