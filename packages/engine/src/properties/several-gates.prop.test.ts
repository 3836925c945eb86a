import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GateConfig } from "../gates/gate-state.ts";
import { Crew } from "./crew.ts";
import { Drive, type Taken } from "./drive.ts";

/** How long a worker needs for a job: what a concurrency gate waits for. */
const WORK_MS = 40;

interface Pair {
  name: string;
  slow: GateConfig;
  fast: GateConfig;
  /** Milliseconds for one job of each gate, when nothing else limits it. */
  slowMs: number;
  fastMs: number;
}

const pairs: readonly Pair[] = [
  {
    name: "rate and rate, burst 1",
    slow: { rate: 5, burst: 1 },
    fast: { rate: 50, burst: 1 },
    slowMs: 200,
    fastMs: 20,
  },
  {
    name: "rate and rate, larger bursts",
    slow: { rate: 5, burst: 10 },
    fast: { rate: 50, burst: 5 },
    slowMs: 200,
    fastMs: 20,
  },
  {
    name: "equal rates",
    slow: { rate: 20, burst: 1 },
    fast: { rate: 20, burst: 1 },
    slowMs: 50,
    fastMs: 50,
  },
  {
    name: "rate and concurrency",
    slow: { rate: 5, burst: 1 },
    fast: { concurrency: 1 },
    slowMs: 200,
    fastMs: WORK_MS,
  },
  {
    name: "concurrency and concurrency",
    slow: { concurrency: 1 },
    fast: { concurrency: 3 },
    slowMs: WORK_MS,
    fastMs: WORK_MS,
  },
  {
    name: "windows and rate",
    slow: { windows: [{ limit: 3, perMs: 600 }] },
    fast: { rate: 50, burst: 1 },
    slowMs: 600,
    fastMs: 20,
  },
  {
    name: "windows and concurrency",
    slow: {
      windows: [
        { limit: 3, perMs: 600 },
        { limit: 20, perMs: 6000 },
      ],
    },
    fast: { concurrency: 2 },
    slowMs: 1000,
    fastMs: WORK_MS,
  },
  {
    name: "interval from the end and rate",
    slow: { interval: { ms: 100, from: "end" } },
    fast: { rate: 50, burst: 2 },
    slowMs: 100 + WORK_MS,
    fastMs: 20,
  },
];

/** Workers that acknowledge every job WORK_MS after it went out. */
const crewOf = (drive: Drive): Crew => new Crew(drive, () => WORK_MS);

/** Lanes with one gate at each of the two, and some with both; all backlogged. */
function crowd(pair: Pair, single: number, double: number): Drive {
  const drive = Drive.on("q");
  drive.engine.setGate("slow", pair.slow, drive.now);
  drive.engine.setGate("fast", pair.fast, drive.now);
  for (let lane = 0; lane < single; lane++) {
    drive.addMany("q", `slow-${lane}`, 400, { gates: ["slow"] });
    drive.addMany("q", `fast-${lane}`, 800, { gates: ["fast"] });
  }
  for (let lane = 0; lane < double; lane++) {
    drive.addMany("q", `both-${lane}`, 400, { gates: ["fast", "slow"] });
  }
  return drive;
}

/** The longest time without a job of the lane. */
function longestWait(taken: readonly Taken[], lane: string, from: number, until: number): number {
  let last = from;
  let longest = 0;
  for (const { at, mark } of taken) {
    if (mark.lane !== lane) continue;
    longest = Math.max(longest, at - last);
    last = at;
  }
  return Math.max(longest, until - last);
}

for (const pair of pairs) {
  test(`a job with two gates has a bounded wait beside jobs with one: ${pair.name}`, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        (single, double) => {
          const drive = crowd(pair, single, double);
          const start = drive.now;
          // A turn in each line, then all claims before it: twice over, to be sure of nothing else.
          const bound = 2 * (single + 2 * double + 1) * (pair.slowMs + pair.fastMs);
          const ms = Math.max(10_000, 3 * bound);
          const taken = crewOf(drive).runFor(ms);
          for (let lane = 0; lane < double; lane++) {
            const wait = longestWait(taken, `both-${lane}`, start, start + ms);
            assert.ok(wait <= bound, `both-${lane} waited ${wait} of ${bound} ms`);
          }
        },
      ),
      { numRuns: 6 },
    );
  });

  test(`jobs with one gate go on beside those with two: ${pair.name}`, () => {
    const drive = crowd(pair, 3, 2);
    const ms = 20_000;
    const taken = crewOf(drive).runFor(ms);
    for (const gate of ["slow", "fast"]) {
      const count = taken.filter(({ mark }) => mark.lane.startsWith(gate)).length;
      const period = gate === "slow" ? pair.slowMs : pair.fastMs;
      assert.ok(count >= (0.25 * ms) / period, `${count} of ${ms / period} at the ${gate} gate`);
    }
  });
}

test("a job takes the permits of all its gates or none", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ gates: fc.subarray(["a", "b", "c"]), lane: fc.nat(3) }), {
        minLength: 5,
        maxLength: 60,
        size: "max",
      }),
      fc.integer({ min: 1, max: 3 }),
      (jobs, concurrency) => {
        const drive = Drive.on("q");
        drive.engine.setGate("a", { concurrency }, drive.now);
        drive.engine.setGate("b", { concurrency: 1 }, drive.now);
        drive.engine.setGate("c", { concurrency: 2 }, drive.now);
        for (const { gates, lane } of jobs) {
          drive.engine.add("q", { gates, fairnessKey: `${lane}`, body: gates }, drive.now);
        }
        const running: Taken[] = [];
        let done = 0;
        for (;;) {
          running.push(...drive.dispatchNow());
          for (const [key, most] of Object.entries({ a: concurrency, b: 1, c: 2 })) {
            const held = running.filter(({ body }) => (body as string[]).includes(key)).length;
            assert.equal(drive.engine.queries.gateStats(key, drive.now).inFlight, held);
            assert.ok(held <= most);
          }
          const first = running.shift();
          if (first === undefined) break;
          drive.ack(first);
          done++;
        }
        assert.equal(done, jobs.length, "no job waits without end");
      },
    ),
    { numRuns: 150 },
  );
});

test("a claim is dropped when one of its gates cools down; its other gate keeps working", () => {
  const drive = Drive.on("q");
  drive.engine.setGate("slow", { rate: 5, burst: 1 }, drive.now);
  drive.engine.setGate("fast", { concurrency: 1 }, drive.now);
  drive.addMany("q", "fast", 3000, { gates: ["fast"] });
  drive.addMany("q", "slow", 100, { gates: ["slow"] });
  drive.addMany("q", "both", 50, { gates: ["slow", "fast"] });
  const crew = crewOf(drive);
  crew.runFor(300);
  drive.engine.cooldown("slow", 60_000, "down", drive.now);
  const during = crew.runFor(2000);
  assert.ok(during.length >= 2000 / WORK_MS - 2, `${during.length} at the open gate`);
  crew.runFor(60_000);
  const after = crew.runFor(5000);
  assert.ok(after.some(({ mark }) => mark.lane === "both"));
});
