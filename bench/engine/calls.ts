// Remembers how long single calls took, and tells three things apart: what a caller felt, what of
// it was a pause of the garbage collector, and what the engine does by itself. The engine is
// deterministic, so the same call of the next run does the same work: what is long in every run is
// the engine's doing, what is long once was the machine's.

import { PerformanceObserver } from "node:perf_hooks";
import type { Figure } from "../figure.ts";
import { figureOf, rounded, spreadOf } from "../spread.ts";

const LONG_MS = 0.5;
const CALL_MS_MAX = 5;

interface Call {
  readonly name: string;
  // Which call of its run it was.
  readonly index: number;
  readonly from: number;
  readonly ms: number;
}

const NO_CALL: Call = { name: "none", index: -1, from: 0, ms: 0 };

export class Calls {
  count = 0;
  longest = NO_CALL;
  readonly long = new Map<number, Call>();

  // A call that began at `from` is over.
  note(name: string, from: number): void {
    const ms = performance.now() - from;
    const index = this.count++;
    if (ms <= LONG_MS && ms <= this.longest.ms) return;
    const call = { name, index, from, ms };
    if (ms > this.longest.ms) this.longest = call;
    if (ms > LONG_MS) this.long.set(index, call);
  }
}

export interface TimedRun {
  readonly calls: Calls;
  readonly gc: GcPauses;
}

// The longest call as it was felt, and the longest that was long in every run.
export function longestCallFigures(
  runs: readonly TimedRun[],
  when: string,
  conditions: Figure["conditions"],
): Figure[] {
  const repeated = longestInEvery(runs.map(({ calls }) => calls));
  const target = { atMost: CALL_MS_MAX };
  const over = runs.map(({ calls }) => `${countOver(calls)} of ${calls.count}`);
  const longest = runs.map(({ calls }) => calls.longest);
  const felt = figureOf(
    `longest call ${when}`,
    "ms",
    longest.map(({ ms }) => ms),
    {
      ...conditions,
      calls: longest.map(({ name }) => name).join(", "),
      callsOver5Ms: over.join(", "),
      withoutGcMs: rounded(spreadOf(runs.map(longestWithoutGc)).median),
      longestGcMs: rounded(Math.max(...runs.map(({ gc }) => gc.longestMs))),
    },
  );
  return [
    { ...felt, target },
    {
      metric: `… long in every run, ${when}`,
      value: rounded(repeated.ms),
      unit: "ms",
      target,
      conditions: {
        ...conditions,
        source: "the same call of each run, its fastest time",
        call: repeated.name,
        callNumber: repeated.index,
        runs: runs.length,
      },
    },
  ];
}

// Calls that are not remembered as long count as long enough to be nearly so.
function longestInEvery(runs: readonly Calls[]): Call {
  const [first, ...others] = runs;
  let longest = { ...NO_CALL, name: `none over ${LONG_MS} ms`, ms: LONG_MS };
  for (const call of first?.long.values() ?? []) {
    const ms = Math.min(call.ms, ...others.map(({ long }) => long.get(call.index)?.ms ?? 0));
    if (ms > longest.ms) longest = { ...call, ms };
  }
  return longest;
}

function countOver({ long }: Calls): number {
  return [...long.values()].filter(({ ms }) => ms > CALL_MS_MAX).length;
}

function longestWithoutGc({ calls, gc }: TimedRun): number {
  const bare = [...calls.long.values()].map((call) => call.ms - gc.within(call.from, call.ms));
  return Math.max(Math.min(calls.longest.ms, LONG_MS), ...bare);
}

export class GcPauses {
  readonly #pauses: { readonly startTime: number; readonly duration: number }[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#take(list.getEntries()));

  constructor() {
    this.#observer.observe({ entryTypes: ["gc"] });
  }

  get longestMs(): number {
    return this.#pauses.reduce((longest, { duration }) => Math.max(longest, duration), 0);
  }

  // Milliseconds of pause in a span.
  within(from: number, ms: number): number {
    let sum = 0;
    for (const { startTime, duration } of this.#pauses) {
      sum += Math.max(0, Math.min(from + ms, startTime + duration) - Math.max(from, startTime));
    }
    return sum;
  }

  // The observer reports pauses some turns of the event loop later.
  async stop(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.#take(this.#observer.takeRecords());
    this.#observer.disconnect();
  }

  #take(entries: Iterable<{ startTime: number; duration: number }>): void {
    for (const { startTime, duration } of entries) this.#pauses.push({ startTime, duration });
  }
}
