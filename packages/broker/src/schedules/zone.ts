/** When the clocks of a time zone change: what local times are in UTC, by the data of `Intl`. */
import { invalid } from "@sluice/protocol";
import { ZONE_YEARS_MAX } from "../limits.ts";

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;

/** At `at` the local time changes from being `before` ahead of UTC to `after`. */
export interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

interface Year {
  /** How far local time is ahead when the year begins in UTC. */
  readonly offset: number;
  readonly changes: readonly Change[];
}

const zones = new Map<string, Zone>();

export class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #years = new Map<number, Year>();

  private constructor(name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  /** Zones are few, and making one takes a millisecond: each is kept. */
  static of(name: string): Zone {
    const known = zones.get(name);
    if (known !== undefined) return known;
    try {
      const made = new Zone(name);
      zones.set(name, made);
      return made;
    } catch {
      throw invalid("schedule.timezone", "a time zone such as Europe/Berlin", name);
    }
  }

  /** How far local time is ahead of UTC. */
  offsetAt(at: number): number {
    const { offset, changes } = this.#year(yearOf(at));
    return changes.findLast((change) => change.at <= at)?.after ?? offset;
  }

  /** The changes after `from` and up to `to`, in order. */
  changes(from: number, to: number): Change[] {
    const found: Change[] = [];
    for (let year = yearOf(from); year <= yearOf(to); year++) {
      for (const change of this.#year(year).changes) {
        if (change.at > from && change.at <= to) found.push(change);
      }
    }
    return found;
  }

  #year(year: number): Year {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    if (this.#years.size >= ZONE_YEARS_MAX) this.#years.clear();
    const made = this.#look(year);
    this.#years.set(year, made);
    return made;
  }

  /** Looks at each day, and for the second of a change in those in which there is one. */
  #look(year: number): Year {
    const begin = Date.UTC(year, 0, 1);
    const end = Date.UTC(year + 1, 0, 1);
    const offset = this.#ask(begin);
    const changes: Change[] = [];
    let before = offset;
    for (let day = begin; day < end; day += DAY_MS) {
      const after = this.#ask(Math.min(day + DAY_MS, end) - SECOND_MS);
      if (after === before) continue;
      const from = day - SECOND_MS;
      changes.push({ at: this.#changeIn(from, day + DAY_MS, before), before, after });
      before = after;
    }
    return { offset, changes };
  }

  /** The first second after `from` that has another offset. */
  #changeIn(from: number, to: number, before: number): number {
    let [low, high] = [from, to];
    while (high - low > SECOND_MS) {
      const middle = low + Math.floor((high - low) / 2 / SECOND_MS) * SECOND_MS;
      if (this.#ask(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }

  #ask(at: number): number {
    const parts: Record<string, number> = {};
    let isBefore = false;
    for (const { type, value } of this.#format.formatToParts(at)) {
      if (type === "era") isBefore = value.startsWith("B");
      else parts[type] = Number(value);
    }
    const year = isBefore ? 1 - parts.year! : parts.year!;
    const local = Date.UTC(
      year,
      parts.month! - 1,
      parts.day,
      parts.hour,
      parts.minute,
      parts.second,
    );
    return local - Math.floor(at / SECOND_MS) * SECOND_MS;
  }
}

function yearOf(at: number): number {
  return new Date(at).getUTCFullYear();
}
