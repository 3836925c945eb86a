// Lanes behind a closed gate must cost those beside them nothing. With and without them in turns.

import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf, rounded } from "../spread.ts";
import { backlogOf, EngineJobs, EngineLoad, fill, grouped, loadConditions } from "./load.ts";

const CLOSED_LANES = 100_000;
const OTHER_LANES = 1000;
// Short pairs and many of them: a disturbance then spoils few of the ratios.
const JOBS_PER_RUN = 250_000;
const PAIRS_PER_RUN = 4;
const CLOSED_GATE = "closed";

export const closedGateGroups: readonly Group[] = [{ name: "closed-gate", run: measure }];

function measure(scale: Scale): Figure[] {
  const closedLanes = scale.size(CLOSED_LANES);
  const lanes = scale.size(OTHER_LANES);
  const jobsPerRun = scale.size(JOBS_PER_RUN);
  const alone = new EngineLoad({ lanes, isGated: true });
  const beside = new EngineLoad({ lanes, isGated: true });
  beside.engine.setGate(CLOSED_GATE, { rate: 0 }, 0);
  fill(beside.engine, new EngineJobs(closedLanes, CLOSED_GATE, "c"), backlogOf(closedLanes), 0);
  alone.warmUp();
  beside.warmUp();
  const ratios: number[] = [];
  const before = { alone: alone.engine.queries.steps, beside: beside.engine.queries.steps };
  const pairs = scale.runs * PAIRS_PER_RUN;
  for (let pair = 0; pair < pairs; pair++) {
    ratios.push(pairRatio(alone, beside, jobsPerRun, pair));
  }
  const jobs = jobsPerRun * pairs;
  const stepsAlone = rounded((alone.engine.queries.steps - before.alone) / jobs);
  const stepsBeside = rounded((beside.engine.queries.steps - before.beside) / jobs);
  const conditions = { closedLanes, lanes, ...loadConditions(alone, jobsPerRun) };
  const of = `${grouped(closedLanes)} lanes behind a closed gate`;
  return [
    {
      ...figureOf(
        `enqueue + dispatch + ack beside ${of}, against without`,
        "×",
        ratios,
        conditions,
      ),
      target: { atLeast: 0.9 },
    },
    {
      metric: `steps for a job beside ${of}`,
      value: stepsBeside,
      unit: "steps",
      target: { atMost: stepsAlone },
      conditions: { ...conditions, stepsWithout: stepsAlone },
    },
    { metric: "steps for a job without them", value: stepsAlone, unit: "steps", conditions },
  ];
}

// Each goes first in every other pair.
function pairRatio(alone: EngineLoad, beside: EngineLoad, jobs: number, pair: number): number {
  if (pair % 2 === 0) {
    const without = alone.run(jobs);
    return beside.run(jobs) / without;
  }
  const speed = beside.run(jobs);
  return speed / alone.run(jobs);
}
