// What fairness and a gate cost against a plain queue, durability included: one lane, no gate. In
// pairs, so that what disturbs the machine disturbs both.

import { grouped } from "../engine/load.ts";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, rounded, spreadOf } from "../spread.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, EmbeddedLoad } from "./load.ts";

// Short pairs and many of them: a disturbance then spoils few of the ratios.
const JOBS_PER_TURN = 100_000;
const JOBS_PER_TURN_MIN = 20_000;
const PAIRS_PER_RUN = 4;
const LANES_MIN = 10;
// Beside a job for each lane, what the worker's handlers hold.
const HELD_JOBS = 20_000;

const CASES = [
  { lanes: 10, slowerMax: 5 },
  { lanes: 10_000, slowerMax: 10 },
  { lanes: 1_000_000, slowerMax: 20 },
] as const;

export const fifoGroups: readonly Group[] = CASES.map(({ lanes, slowerMax }) => ({
  name: `fifo-${lanes}`,
  run: async (scale, report) => {
    const [plain, slower] = await measure(scale, Math.max(LANES_MIN, scale.size(lanes)));
    report(plain);
    report({ ...slower, target: { atMost: slowerMax } });
  },
}));

async function measure(scale: Scale, lanes: number): Promise<[Figure, Figure]> {
  using scratch = new Scratch();
  const backlog = Math.ceil((lanes + HELD_JOBS) / BATCH_JOBS) * BATCH_JOBS;
  const base = { durability: "fsync", backlog } as const;
  const plain = { ...base, lanes: 1, isGated: false, fairness: false };
  await using fifo = await EmbeddedLoad.open({ ...plain, dir: scratch.fresh() });
  await using fair = await EmbeddedLoad.open({ ...base, lanes, dir: scratch.fresh() });
  const jobsPerTurn = Math.max(JOBS_PER_TURN_MIN, scale.size(JOBS_PER_TURN));
  await pairOf(fifo, fair, jobsPerTurn, 0);
  const pairs: Pair[] = [];
  for (let i = 0; i < scale.runs * PAIRS_PER_RUN; i++) {
    pairs.push(await pairOf(fifo, fair, jobsPerTurn, i));
  }
  const added = `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight`;
  const shared = { durability: "fsync", disk: scratch.disk, ...fair.conditions, jobsPerTurn };
  const figure = (metric: string, unit: string, values: readonly number[], who: string): Figure =>
    figureOf(metric, unit, values, { who, ...shared, added });
  const name = `${grouped(lanes)} lanes`;
  const moreCpu = (spreadOf(pairs.map(({ cpuRatio }) => cpuRatio)).median - 1) * 100;
  const plainly = pairs.map((pair) => pair.fifo);
  const slower = pairs.map((pair) => (1 - pair.fair / pair.fifo) * 100);
  const both = `${name}, one open gate, ${rounded(moreCpu)} % more processor time than FIFO`;
  return [
    figure(
      `FIFO, fsync, backlog as of ${name}`,
      "jobs/s",
      plainly,
      "one lane, no gate, fairness off",
    ),
    figure(`${name} and a gate against FIFO, fsync`, "% slower", slower, both),
  ];
}

interface Pair {
  readonly fifo: number;
  readonly fair: number;
  // Processor time for a job, fair against FIFO.
  readonly cpuRatio: number;
}

// Each goes first in every other pair.
async function pairOf(
  fifo: EmbeddedLoad,
  fair: EmbeddedLoad,
  jobs: number,
  index: number,
): Promise<Pair> {
  const speeds = new Map<EmbeddedLoad, number>();
  for (const load of index % 2 === 0 ? [fifo, fair] : [fair, fifo]) {
    speeds.set(load, await load.bulk(jobs));
  }
  const cpuRatio = fair.cpuMicrosPerJob / fifo.cpuMicrosPerJob;
  return { fifo: speeds.get(fifo)!, fair: speeds.get(fair)!, cpuRatio };
}
