// The saved seeds: what once broke runs again in every run. One seed a line, and what it showed
// after a #.

import { readFileSync } from "node:fs";

const SAVED = new URL("../../seeds/sim.txt", import.meta.url);

export function savedSeeds(): number[] {
  return readFileSync(SAVED, "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => {
      const seed = Number(line);
      if (!Number.isSafeInteger(seed)) throw new Error(`seeds/sim.txt: ${line} is no seed`);
      return seed;
    });
}

// Where the hours of a test run begin: the same for every run, so that a red run is the change's
// doing. SIM_START moves it, and the soak goes where no run has been.
export function firstSeed(): number {
  return Number(process.env.SIM_START ?? 1);
}

// Seeds that no run has had before, unless SIM_START says where to begin.
export function unseenStart(): number {
  const { SIM_START } = process.env;
  if (SIM_START !== undefined) return Number(SIM_START);
  return Number(process.hrtime.bigint() % 1_000_000_000n) * 1_000;
}
