// What fairness and a gate cost against a plain queue: one lane, no gate. The three run in turns,
// so that what disturbs the machine disturbs each of them.

import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";
import { backlogOf, EngineLoad, grouped, loadConditions } from "./load.ts";

// Short turns and many of them: a disturbance then spoils few of the ratios.
const JOBS_PER_TURN = 250_000;
const TURNS_PER_RUN = 4;
const LANES_MIN = 10;

export const fifoGroups: readonly Group[] = [10, 10_000, 1_000_000].map((lanes) => ({
  name: `fifo-${lanes}`,
  run: (scale) => measure(scale, Math.max(LANES_MIN, scale.size(lanes))),
}));

function measure(scale: Scale, lanes: number): Figure[] {
  const jobsPerTurn = scale.size(JOBS_PER_TURN);
  const backlog = backlogOf(lanes);
  const loads = {
    fifo: new EngineLoad({ lanes: 1, isGated: false, fairness: false, backlog }).warmUp(),
    ungated: new EngineLoad({ lanes, isGated: false }).warmUp(),
    gated: new EngineLoad({ lanes, isGated: true }).warmUp(),
  };
  const turns = scale.runs * TURNS_PER_RUN;
  const fifo: number[] = [];
  const ungated: number[] = [];
  const gated: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const plain = loads.fifo.run(jobsPerTurn);
    fifo.push(plain);
    ungated.push(loads.ungated.run(jobsPerTurn) / plain);
    gated.push(loads.gated.run(jobsPerTurn) / plain);
  }
  const shared = { lanes, ...loadConditions(loads.fifo, jobsPerTurn) };
  const figure = (metric: string, unit: string, values: readonly number[], gate: string) =>
    figureOf(metric, unit, values, { ...shared, gate });
  const name = `${grouped(lanes)} lanes`;
  return [
    figure(`FIFO, backlog as of ${name}`, "jobs/s", fifo, "none; one lane, fairness off"),
    figure(`${name} against FIFO, no gate`, "× FIFO", ungated, "none"),
    figure(`${name} against FIFO, one open gate`, "× FIFO", gated, "one, limited, never exhausted"),
  ];
}
