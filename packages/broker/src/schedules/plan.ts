/** When a schedule ticks, whatever its plan is, and when each tick is due. */
import type { ParsedSchedule } from "@sluice/protocol";
import { CRONS_MAX } from "../limits.ts";
import { CronTimes } from "./cron-times.ts";

/** The times of a plan, without its bounds. */
interface Times {
  /** The first after a time; undefined: there is none. */
  next(after: number): number | undefined;
  /** Where so many up to a time begin, or a little earlier. */
  startOf(count: number, upTo: number): number;
}

/** Ticks that are due, the newest of them; there are older ones when `olderUntil` says so. */
export interface PassedTicks {
  readonly ticks: readonly number[];
  readonly olderUntil: number | undefined;
}

type PlanOptions = Pick<
  ParsedSchedule,
  "cron" | "everyMs" | "at" | "timezone" | "from" | "until" | "jitterMs"
>;

export class Plan {
  readonly #key: string;
  readonly #times: Times;
  readonly #from: number;
  readonly #until: number;
  readonly #jitterMs: number;

  constructor(key: string, options: PlanOptions) {
    this.#key = key;
    this.#times = timesOf(options);
    this.#from = options.from ?? 0;
    this.#until = options.until ?? Number.POSITIVE_INFINITY;
    this.#jitterMs = options.jitterMs ?? 0;
  }

  /** The first tick after a time. */
  next(after: number): number | undefined {
    const tick = this.#times.next(Math.max(after, this.#from - 1));
    return tick === undefined || tick > this.#until ? undefined : tick;
  }

  /** Ticks after one time and up to another, the newest `count` of them. */
  passed(after: number, upTo: number, count: number): PassedTicks {
    const ticks = this.#list(after, upTo, count + 1);
    if (ticks.length <= count) return { ticks, olderUntil: undefined };
    const end = Math.min(upTo, this.#until);
    const start = Math.max(after, this.#from - 1, this.#times.startOf(count + 1, end));
    const newest = this.#list(start, upTo, Number.POSITIVE_INFINITY);
    return { ticks: newest.slice(-count), olderUntil: newest.at(-count - 1) ?? start };
  }

  #list(after: number, upTo: number, max: number): number[] {
    const ticks: number[] = [];
    let tick = this.next(after);
    while (tick !== undefined && tick <= upTo && ticks.length < max) {
      ticks.push(tick);
      tick = this.next(tick);
    }
    return ticks;
  }

  /** The next ticks after a time. */
  upcoming(after: number, count: number): number[] {
    return this.#list(after, Number.POSITIVE_INFINITY, count);
  }

  /** When a tick is due: later by its jitter, and always before the next tick. */
  dueAt(tick: number): number {
    if (this.#jitterMs === 0) return tick;
    const gap = (this.#times.next(tick) ?? Number.POSITIVE_INFINITY) - tick;
    return tick + (hashOf(`${this.#key}\n${tick}`) % Math.min(this.#jitterMs + 1, gap));
  }
}

function timesOf({ cron, everyMs, at, timezone, from = 0 }: PlanOptions): Times {
  if (cron !== undefined) return cronTimes(cron, timezone);
  if (everyMs !== undefined) return new Interval(everyMs, from);
  return new Moments(at!);
}

const crons = new Map<string, CronTimes>();

/** Reading an expression takes as long as twenty ticks: those in use are kept. */
function cronTimes(cron: string, timezone: string | undefined): CronTimes {
  const name = `${timezone ?? ""} ${cron}`;
  const known = crons.get(name);
  if (known !== undefined) return known;
  const made = new CronTimes(cron, timezone);
  if (crons.size >= CRONS_MAX) crons.clear();
  crons.set(name, made);
  return made;
}

class Interval implements Times {
  readonly #everyMs: number;
  readonly #from: number;

  constructor(everyMs: number, from: number) {
    this.#everyMs = everyMs;
    this.#from = from;
  }

  next(after: number): number {
    const passed = Math.floor((after - this.#from) / this.#everyMs);
    return this.#from + Math.max(0, passed + 1) * this.#everyMs;
  }

  startOf(count: number, upTo: number): number {
    return this.next(upTo) - (count + 1) * this.#everyMs;
  }
}

/** Times that were given one by one. */
class Moments implements Times {
  readonly #at: readonly number[];

  constructor(at: readonly number[]) {
    this.#at = [...new Set(at)].sort((a, b) => a - b);
  }

  next(after: number): number | undefined {
    return this.#at.find((time) => time > after);
  }

  startOf(count: number, upTo: number): number {
    return (this.#at.filter((time) => time <= upTo).at(-count) ?? 0) - 1;
  }
}

/** FNV-1a, 32 bits: the same everywhere and always. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
