import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GateConfig } from "../gates/gate-state.ts";
import { IDLE_MS } from "../limits.ts";
import { Crew } from "./crew.ts";
import { Drive, type Taken } from "./drive.ts";

/**
 * What keeps the other gate shut. `ms` is how long a job holds it, where that matters; `block` is
 * done once, after the first minute.
 */
interface Case {
  readonly name: string;
  readonly other: GateConfig;
  readonly workMs: number;
  readonly block?: (drive: Drive) => void;
}

const cases: readonly Case[] = [
  { name: "a window", other: { windows: [{ limit: 2, perMs: 600_000 }] }, workMs: 5000 },
  { name: "a rate", other: { rate: 0.01, burst: 2 }, workMs: 5000 },
  {
    name: "an interval from the start",
    other: { interval: { ms: 30_000, from: "start" } },
    workMs: 5000,
  },
  {
    name: "an interval from the end",
    other: { interval: { ms: 30_000, from: "end" } },
    workMs: 5000,
  },
  { name: "long jobs", other: { concurrency: 1 }, workMs: 40_000 },
  { name: "short jobs", other: { concurrency: 1 }, workMs: 300 },
  {
    name: "a cooldown",
    other: { concurrency: 2 },
    workMs: 700,
    block: (drive) => drive.engine.cooldown("other", 300_000, "down", drive.now),
  },
  {
    name: "a rate of 0",
    other: { rate: 1, burst: 1 },
    workMs: 700,
    block: (drive) => drive.engine.setGate("other", { rate: 0 }, drive.now),
  },
];

for (const { name, other, workMs, block } of cases) {
  test(`a place idles a second at most, and a second per job: beside ${name}`, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(100, 900, 1100, 10_000),
        (places, singles, doubles, placeMs) => {
          const drive = Drive.on("q");
          drive.engine.setGate("place", { concurrency: places }, drive.now);
          drive.engine.setGate("other", other, drive.now);
          for (let i = 0; i < singles; i++) {
            drive.addMany("q", `place-${i}`, 2000, { gates: ["place"] });
            drive.addMany("q", `other-${i}`, 1000, { gates: ["other"] });
          }
          for (let i = 0; i < doubles; i++) {
            drive.addMany("q", `both-${i}`, 500, { gates: ["place", "other"] });
          }
          let stretch = 0;
          let sum = 0;
          let both = 0;
          const crew = new Crew(drive, ({ mark }) =>
            mark.lane.startsWith("other") ? workMs : placeMs,
          );
          const quiet = (ms: number): void => {
            const idle = places - drive.engine.queries.gateStats("place", drive.now).inFlight;
            stretch = idle === 0 ? 0 : stretch + ms;
            sum += idle * ms;
            assert.ok(stretch <= IDLE_MS, `idle for ${stretch} ms at a time`);
            assert.ok(sum <= IDLE_MS * (both + 1), `idle for ${sum} ms, ${both} jobs`);
          };
          const taken = ({ mark }: Taken): void => {
            stretch = 0;
            if (mark.lane.startsWith("both")) both++;
          };
          const start = drive.now;
          crew.runTo(start + 20_000, taken, quiet);
          block?.(drive);
          crew.runTo(start + 60_000, taken, quiet);
        },
      ),
      { numRuns: 12 },
    );
  });
}
