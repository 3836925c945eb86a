// Enqueue, dispatch and ack by one core, fairness and a gate on, without and with facts.

import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf, rounded } from "../spread.ts";
import { EngineLoad, grouped, loadConditions } from "./load.ts";

const JOBS_PER_RUN = 2_000_000;
const LANES_MIN = 10;

const CASES = [
  { lanes: 10, atLeast: 2_000_000 },
  { lanes: 10_000, atLeast: 1_500_000 },
  { lanes: 1_000_000, atLeast: 700_000 },
] as const;

export const throughputGroups: readonly Group[] = CASES.flatMap(({ lanes, atLeast }) => [
  {
    name: `throughput-${lanes}`,
    run: (scale) => ({ ...measure(scale, lanes, false), target: { atLeast } }),
  },
  { name: `throughput-facts-${lanes}`, run: (scale) => measure(scale, lanes, true) },
]);

function measure(scale: Scale, lanesFull: number, tellsFacts: boolean): Figure {
  const lanes = Math.max(LANES_MIN, scale.size(lanesFull));
  const jobsPerRun = scale.size(JOBS_PER_RUN);
  const load = new EngineLoad({ lanes, isGated: true, tellsFacts }).warmUp();
  load.facts = 0;
  const speeds = Array.from({ length: scale.runs }, () => load.run(jobsPerRun));
  const perJob = rounded(load.facts / (jobsPerRun * scale.runs));
  const facts = tellsFacts ? ", facts told" : "";
  return figureOf(`enqueue + dispatch + ack, ${grouped(lanes)} lanes${facts}`, "jobs/s", speeds, {
    lanes,
    gate: "one, limited, never exhausted",
    facts: tellsFacts ? `drained after each call, ${perJob} a job` : "not told",
    ...loadConditions(load, jobsPerRun),
  });
}
