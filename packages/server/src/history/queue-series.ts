import type { SeriesName } from "@sluice/protocol";
import { HISTORY_POINTS } from "../limits.ts";

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
  readonly #values = new Float32Array(HISTORY_POINTS * SERIES.length);
  readonly #first: number;

  constructor(firstTick: number) {
    this.#first = firstTick;
  }

  set(tick: number, point: Point): void {
    const at = (tick % HISTORY_POINTS) * SERIES.length;
    for (const [i, name] of SERIES.entries()) this.#values[at + i] = point[name];
  }

  /** The moments up to `tick`, oldest first; null where the queue was not known yet. */
  read(name: SeriesName, tick: number, points: number): (number | null)[] {
    const field = SERIES.indexOf(name);
    return Array.from({ length: points }, (_, i) => {
      const moment = tick - points + 1 + i;
      if (moment < this.#first || moment <= tick - HISTORY_POINTS) return null;
      return short(this.#values[(moment % HISTORY_POINTS) * SERIES.length + field]!);
    });
  }

  last(name: SeriesName, tick: number): number {
    return this.read(name, tick, 1)[0] ?? 0;
  }
}

/** A chart cannot show more, and an answer is shorter without it. */
function short(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
