/** The calls that look for jobs in all partitions, and put together what each has found. */
import {
  type CountOptions,
  type FailureGroup,
  type Failures,
  type FailuresOptions,
  type FindOptions,
  type FoundJob,
  type FoundJobs,
  invalid,
  type JobCounts,
  type JobState,
} from "@sluice/protocol";
import { PAGE } from "../limits.ts";
import { pageByValue } from "./pages.ts";
import type { PartitionCalls } from "./partition-calls.ts";

export class ClusterFinds {
  readonly #calls: PartitionCalls;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  async findJobs(options: FindOptions = {}): Promise<FoundJobs> {
    this.#calls.check();
    if (isScan(options)) return this.#scan(options);
    const { order = "newest", time = "added", limit, cursor, ...filter } = options;
    const sign = order === "newest" ? 1 : -1;
    const timeOf = (job: FoundJob): number => (time === "added" ? job.addedAt : job.changedAt);
    const page = { ...(limit === undefined ? {} : { limit }), ...(cursor && { cursor }) };
    return pageByValue<FoundJob>(
      this.#calls.all,
      page,
      (job) => sign * timeOf(job),
      (partition, from) =>
        this.#calls.ask(partition, (port) => port.findJobs({ ...filter, order, time, ...from })),
    );
  }

  /** All partitions scan side by side, each for its part of the page. */
  async #scan({ limit = PAGE, cursor, ...filter }: FindOptions): Promise<FoundJobs> {
    const places = placesOf(cursor, this.#calls.all);
    const most = Math.max(1, Math.floor(limit / places.length));
    const pages = await this.#at(places, (port, from) =>
      port.findJobs({ ...filter, limit: most, ...from }),
    );
    return { items: pages.flatMap(({ items }) => items), ...scanned(places, pages) };
  }

  async countJobs({ cursor, ...filter }: CountOptions = {}): Promise<JobCounts> {
    this.#calls.check();
    const places = placesOf(cursor, this.#calls.all);
    const counts = await this.#at(places, (port, from) => port.countJobs({ ...filter, ...from }));
    const states: Partial<Record<JobState, number>> = {};
    const queues = new Map<string, number>();
    for (const one of counts) {
      for (const [state, count] of Object.entries(one.states) as [JobState, number][]) {
        states[state] = (states[state] ?? 0) + count;
      }
      for (const { queue, count } of one.queues)
        queues.set(queue, (queues.get(queue) ?? 0) + count);
    }
    return {
      count: counts.reduce((sum, { count }) => sum + count, 0),
      states,
      queues: Array.from(queues, ([queue, count]) => ({ queue, count })),
      ...(isScan(filter) ? scanned(places, counts) : {}),
    };
  }

  #at<T>(
    places: readonly Place[],
    call: (port: Port, from: { cursor?: string }) => Promise<T>,
  ): Promise<T[]> {
    return Promise.all(
      places.map(([partition, cursor]) =>
        this.#calls.ask(partition, (port) => call(port, cursor === "" ? {} : { cursor })),
      ),
    );
  }

  async failures({ limit = PAGE, ...options }: FailuresOptions = {}): Promise<Failures> {
    this.#calls.check();
    const parts = await Promise.all(
      this.#calls.all.map((partition) =>
        this.#calls.ask(partition, (port) => port.failures({ ...options, limit: GROUPS })),
      ),
    );
    const groups = new Map<string, FailureGroup>();
    for (const group of parts.flatMap(({ items }) => items)) {
      const known = groups.get(group.id);
      groups.set(group.id, known === undefined ? group : joined(known, group));
    }
    const all = [...groups.values()].sort(
      (a, b) => b.jobs - a.jobs || b.retrying - a.retrying || b.lastAt - a.lastAt,
    );
    return { items: all.slice(0, limit), total: all.length };
  }
}

type Port = Parameters<Parameters<PartitionCalls["ask"]>[1]>[0];

/** Groups that each partition tells: the longest page. */
const GROUPS = 1000;

/** A partition, and where in it a scan continues. */
type Place = readonly [partition: number, cursor: string];

function isScan({ text, header }: CountOptions): boolean {
  return text !== undefined || header !== undefined;
}

function placesOf(cursor: string | undefined, all: readonly number[]): readonly Place[] {
  if (cursor === undefined) return all.map((partition) => [partition, ""]);
  try {
    const places: unknown = JSON.parse(cursor);
    if (Array.isArray(places) && places.length > 0 && places.every(isPlace)) return places;
  } catch {
    // Refused below, like all else that is no cursor.
  }
  throw invalid("cursor", "the cursor of an earlier answer", cursor);

  function isPlace(place: unknown): boolean {
    return Array.isArray(place) && all.includes(place[0]) && typeof place[1] === "string";
  }
}

interface Scanned {
  scanned?: number;
  total?: number;
  cursor?: string;
}

/** How far the partitions are that still have something to scan, together. */
function scanned(places: readonly Place[], pages: readonly Scanned[]): Scanned {
  const next = pages.flatMap(({ cursor }, i): Place[] =>
    cursor === undefined ? [] : [[places[i]![0], cursor]],
  );
  const sum = (of: (page: Scanned) => number | undefined): number =>
    pages.reduce((all, page) => all + (of(page) ?? 0), 0);
  const progress = { scanned: sum((page) => page.scanned), total: sum((page) => page.total) };
  return next.length === 0 ? progress : { ...progress, cursor: JSON.stringify(next) };
}

function joined(a: FailureGroup, b: FailureGroup): FailureGroup {
  const queues = new Map(a.queues.map(({ queue, jobs }) => [queue, jobs]));
  for (const { queue, jobs } of b.queues) queues.set(queue, (queues.get(queue) ?? 0) + jobs);
  return {
    ...a,
    jobs: a.jobs + b.jobs,
    retrying: a.retrying + b.retrying,
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    trend: a.trend.map((count, hour) => count + (b.trend[hour] ?? 0)),
    queues: Array.from(queues, ([queue, jobs]) => ({ queue, jobs })),
    example: a.example.at >= b.example.at ? a.example : b.example,
  };
}
