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

// Seeds that no run has had before, unless SIM_START says where to begin.
export function unseenStart(): number {
  const { SIM_START } = process.env;
  if (SIM_START !== undefined) return Number(SIM_START);
  return Number(process.hrtime.bigint() % 1_000_000_000n) * 1_000;
}

const DAY_MS = 86_400_000;
// Days are this many seeds apart, far more than one run takes.
const SEEDS_PER_DAY = 1_000_000;

// Fresh hours every day, the same ones all day, unless SIM_START says where to begin: a failure in
// the morning is there at noon.
export function startOfDay(): number {
  const { SIM_START } = process.env;
  return Number(SIM_START ?? Math.floor(Date.now() / DAY_MS) * SEEDS_PER_DAY);
}
