import type { SeriesName } from "@sluice/protocol";

/** What is kept of a queue at each moment; rates are a second, times are milliseconds. */
export const SERIES = [
  "waiting",
  "in",
  "out",
  "failures",
  "waitP50",
  "waitP99",
] as const satisfies readonly SeriesName[];

export type Point = Readonly<Record<SeriesName, number>>;

/** The last moments of one queue. Moments are numbered, the same for all queues. */
export class QueueSeries {
  readonly #points: number;
  readonly #values: Float32Array;
  readonly #first: number;

  constructor(firstTick: number, points: number) {
    this.#first = firstTick;
    this.#points = points;
    this.#values = new Float32Array(points * SERIES.length);
  }

  set(tick: number, point: Point): void {
    const at = (tick % this.#points) * SERIES.length;
    for (const [i, name] of SERIES.entries()) this.#values[at + i] = point[name];
  }

  /** The moments up to `tick`, oldest first; null where the queue was not known yet. */
  read(name: SeriesName, tick: number, points: number): (number | null)[] {
    const field = SERIES.indexOf(name);
    return Array.from({ length: points }, (_, i) => {
      const moment = tick - points + 1 + i;
      if (moment < this.#first || moment <= tick - this.#points) return null;
      return short(this.#values[(moment % this.#points) * SERIES.length + field]!);
    });
  }

  /** All lines at one moment. */
  at(tick: number): Point {
    const values = SERIES.map((name) => [name, this.read(name, tick, 1)[0] ?? 0]);
    return Object.fromEntries(values) as Point;
  }

  last(name: SeriesName, tick: number): number {
    return this.read(name, tick, 1)[0] ?? 0;
  }
}

/** A chart cannot show more, and an answer is shorter without it. */
function short(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
