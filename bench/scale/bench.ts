// How the cost of a job grows: with the connections of a server, and with the jobs that wait. The
// busiest thread of the server is what bounds it: the others have cores of their own.

import type { Bench, Conditions, Figure, Group, Report } from "../figure.ts";
import { figureOf } from "../spread.ts";
import { StreamLoad } from "../stream/load.ts";

const PAYLOAD_BYTES = 512;
const LANES = 1000;
const THREADS = [1, 2, 4];
const CONNECTIONS = [1, 10, 100];
const WAITING = [1000, 100_000, 10_000_000];
const JOBS = 1_000_000;
// One for each message: they take ten times as long.
const SINGLES = 50_000;
const BUSIEST_TARGET = { atMost: 2.5 };

export const scaleBench: Bench = {
  name: "scale",
  isOnlyNamed: true,
  groups: [
    ...THREADS.flatMap((threads) => CONNECTIONS.map((one) => connectionsGroup(threads, one))),
    ...WAITING.map(waitingGroup),
  ],
};

function connectionsGroup(threads: number, connections: number): Group {
  return {
    name: `connections-${connections}-threads-${threads}`,
    async run(scale, report) {
      const options = { payloadBytes: PAYLOAD_BYTES, lanes: LANES, connections, threads };
      await using load = await StreamLoad.open(options);
      const words = `${counted(threads, "thread")}, ${counted(connections, "connection")} each way`;
      const inBatches = await measure(load, scale.size(JOBS), scale.runs);
      reportOf(report, `in batches, ${words}`, inBatches, BUSIEST_TARGET);
      const work = (jobs: number): Promise<number> => load.singles(jobs, connections);
      const alone = await measure(load, scale.size(SINGLES), scale.runs, work);
      reportOf(report, `one job for a message, ${words}`, alone);
    },
  };
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

function reportOf(report: Report, words: string, measured: Measured, target?: Figure["target"]) {
  const { busiest, all, rates, conditions } = measured;
  const figure = figureOf(`busiest thread of the server, ${words}`, "µs/job", busiest, conditions);
  report(target === undefined ? figure : { ...figure, target });
  report(figureOf(`all threads of the server, ${words}`, "µs/job", all, conditions));
  report(figureOf(`whole lives, ${words}`, "jobs/s", rates, conditions));
}

// In each run as many jobs are finished as are added, so that as many wait as before.
function waitingGroup(full: number): Group {
  return {
    name: `waiting-${full}`,
    async run(scale, report) {
      const waiting = Math.max(WAITING[0]!, full === WAITING.at(-1) ? scale.size(full) : full);
      const options = { payloadBytes: PAYLOAD_BYTES, lanes: LANES, works: false };
      await using load = await StreamLoad.open(options);
      await load.producer.ask("bulk", waiting);
      const { busiest, conditions } = await measure(load, scale.size(JOBS), scale.runs);
      const words = `${waiting.toLocaleString("en-US")} jobs waiting`;
      report(
        figureOf(`busiest thread of the server, ${words}`, "µs/job", busiest, {
          ...conditions,
          waiting,
        }),
      );
    },
  };
}

interface Measured {
  readonly busiest: number[];
  readonly all: number[];
  readonly rates: number[];
  readonly conditions: Conditions;
}

async function measure(
  load: StreamLoad,
  jobsPerRun: number,
  runs: number,
  work = (jobs: number): Promise<number> => load.bulk(jobs),
): Promise<Measured> {
  await work(jobsPerRun);
  const busiest: number[] = [];
  const all: number[] = [];
  const rates: number[] = [];
  for (let run = 0; run < runs; run++) {
    await load.server.ask("busiestThreadMicros");
    rates.push(await work(jobsPerRun));
    busiest.push((await load.server.ask<number>("busiestThreadMicros")) / jobsPerRun);
    all.push(load.cpuMicrosPerJob.server);
  }
  return { busiest, all, rates, conditions: { ...load.conditions, jobsPerRun } };
}
