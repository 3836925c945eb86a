/**
 * How queues have done of late, at one resolution: enough to see since when something is wrong.
 * What is to be kept for longer than a day is for Prometheus.
 */
import type {
  QueueHistory,
  QueueInfo,
  QueueStats,
  QueueTimes,
  SeriesName,
  TimeCounts,
} from "@sluice/protocol";
import { HISTORY_EVERY_MS, HISTORY_POINTS, HISTORY_QUEUES_MAX } from "../limits.ts";
import { type Point, QueueSeries, SERIES } from "./queue-series.ts";

interface Known {
  readonly series: QueueSeries;
  /** Absent: what is known of the queue is from before a restart. */
  readonly last: Counted | undefined;
}

interface Counted {
  readonly stats: QueueStats;
  readonly counts: readonly number[];
}

/** Of each queue its point of one moment. */
export type Moment = Readonly<Record<string, Point>>;

export class QueueHistories {
  readonly #everyMs: number;
  readonly #points: number;
  readonly #queuesMax: number;
  readonly #times: Float64Array;
  #queues = new Map<string, Known>();
  #tick = -1;
  #missing = "";

  constructor(
    everyMs: number = HISTORY_EVERY_MS,
    points: number = HISTORY_POINTS,
    queuesMax: number = HISTORY_QUEUES_MAX,
  ) {
    this.#everyMs = everyMs;
    this.#points = points;
    this.#queuesMax = queuesMax;
    this.#times = new Float64Array(points);
  }

  /** The number of the last moment; -1: there is none yet. */
  get tick(): number {
    return this.#tick;
  }

  /**
   * Takes down one moment. Queues that are not given are forgotten. Partitions that begin or cease
   * to be missing change all counts at once: between two such moments there is no rate.
   */
  record(
    now: number,
    queues: readonly QueueInfo[],
    times: readonly QueueTimes[],
    missing: readonly number[] = [],
  ): void {
    const last = this.#tick < 0 ? 0 : this.#times[this.#tick % this.#points]!;
    const isSame = this.#missing === missing.join();
    this.#missing = missing.join();
    const seconds = this.#tick < 0 || !isSame ? 0 : (now - last) / 1000;
    this.#times[++this.#tick % this.#points] = now;
    const waits = new Map(times.map(({ name, wait }) => [name, wait]));
    const next = new Map<string, Known>();
    for (const { name, stats } of queues.slice(0, this.#queuesMax)) {
      next.set(name, this.#note(this.#queues.get(name), stats, waits.get(name), seconds));
    }
    this.#queues = next;
  }

  #note(
    before: Known | undefined,
    stats: QueueStats,
    wait: TimeCounts | undefined,
    seconds: number,
  ): Known {
    const series = before?.series ?? new QueueSeries(this.#tick, this.#points);
    const counts = wait?.counts ?? [];
    series.set(this.#tick, pointOf(before?.last, stats, counts, seconds));
    return { series, last: { stats, counts } };
  }

  /** Takes over a moment from before a restart; the oldest first. */
  restore(at: number, moment: Moment): void {
    this.#times[++this.#tick % this.#points] = at;
    for (const [name, point] of Object.entries(moment)) {
      const known = this.#queues.get(name);
      if (known === undefined && this.#queues.size >= this.#queuesMax) continue;
      const series = known?.series ?? new QueueSeries(this.#tick, this.#points);
      series.set(this.#tick, point);
      if (known === undefined) this.#queues.set(name, { series, last: undefined });
    }
  }

  /** The last moment, of the queues in which something happened: those with the most first. */
  moment(queuesMax: number): Moment {
    const points = [...this.#queues].map(
      ([name, { series }]) => [name, series.at(this.#tick)] as const,
    );
    const busy = points.filter(([, point]) => weightOf(point) > 0);
    busy.sort(([, a], [, b]) => weightOf(b) - weightOf(a));
    return Object.fromEntries(busy.slice(0, queuesMax));
  }

  last(queue: string, name: SeriesName): number {
    return this.#queues.get(queue)?.series.last(name, this.#tick) ?? 0;
  }

  /** The last points of one line, oldest first. */
  spark(queue: string, name: SeriesName, points: number): (number | null)[] {
    const known = this.#queues.get(queue);
    return known?.series.read(name, this.#tick, points) ?? new Array(points).fill(null);
  }

  of(queue: string): QueueHistory {
    const points = Math.min(this.#points, this.#tick + 1);
    const read = (name: SeriesName): [SeriesName, (number | null)[]] => [
      name,
      this.spark(queue, name, points),
    ];
    const times = Array.from(
      { length: points },
      (_, i) => this.#times[(this.#tick - points + 1 + i) % this.#points]!,
    );
    const series = Object.fromEntries(SERIES.map(read)) as QueueHistory["series"];
    return { every: this.#everyMs, times, series };
  }
}

const weightOf = ({ waiting, in: added, out, failures }: Point): number =>
  waiting + added + out + failures;

function pointOf(
  before: Counted | undefined,
  stats: QueueStats,
  counts: readonly number[],
  seconds: number,
): Point {
  const rate = (count: (stats: QueueStats) => number): number =>
    before === undefined || seconds <= 0
      ? 0
      : Math.max(0, count(stats) - count(before.stats)) / seconds;
  const isKnown = before === undefined || seconds > 0;
  const since = isKnown
    ? counts.map((count, i) => Math.max(0, count - (before?.counts[i] ?? 0)))
    : [];
  return {
    waiting: stats.waiting,
    in: rate(({ added }) => added),
    out: rate(({ finished }) => finished),
    failures: rate(({ failed, retried, dead }) => failed + retried + dead),
    waitP50: quantile(since, 0.5),
    waitP99: quantile(since, 0.99),
  };
}

/** Where the quantile lies, evenly between the ends of its bucket; 0 when nothing was counted. */
export function quantile(counts: readonly number[], q: number): number {
  const wanted = q * counts.reduce((sum, count) => sum + count, 0);
  if (wanted === 0) return 0;
  let below = 0;
  let index = 0;
  while (index < counts.length - 1 && below + counts[index]! < wanted) below += counts[index++]!;
  const from = index === 0 ? 0 : 2 ** (index - 1);
  return from + (2 ** index - from) * ((wanted - below) / Math.max(1, counts[index]!));
}
