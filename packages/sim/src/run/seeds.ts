import { readSeeds } from "../saved/seeds.ts";

export function savedSeeds(): number[] {
  return readSeeds("sim.txt");
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
