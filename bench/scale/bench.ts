// How the cost of a job grows: with the connections of a server, and with the jobs that wait. The
// busiest thread of the server is what bounds it: the others have cores of their own.

import type { Bench, Group, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";
import { StreamLoad } from "../stream/load.ts";

const PAYLOAD_BYTES = 512;
const LANES = 1000;
const CONNECTIONS = [1, 10, 100];
const WAITING = [1000, 100_000, 10_000_000];
const JOBS = 1_000_000;
const BUSIEST_TARGET = { atMost: 2.5 };

export const scaleBench: Bench = {
  name: "scale",
  isOnlyNamed: true,
  groups: [...CONNECTIONS.map(connectionsGroup), ...WAITING.map(waitingGroup)],
};

function connectionsGroup(connections: number): Group {
  return {
    name: `connections-${connections}`,
    async run(scale, report) {
      const options = { payloadBytes: PAYLOAD_BYTES, lanes: LANES, connections };
      await using load = await StreamLoad.open(options);
      const { busiest, all, conditions } = await measure(load, scale);
      const words = `${connections} ${connections === 1 ? "connection" : "connections"} each way`;
      report({
        ...figureOf(`busiest thread of the server, ${words}`, "µs/job", busiest, conditions),
        target: BUSIEST_TARGET,
      });
      report(figureOf(`all threads of the server, ${words}`, "µs/job", all, conditions));
    },
  };
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
      const { busiest, conditions } = await measure(load, scale);
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

async function measure(load: StreamLoad, scale: Scale) {
  const jobsPerRun = scale.size(JOBS);
  await load.bulk(jobsPerRun);
  const busiest: number[] = [];
  const all: number[] = [];
  for (let run = 0; run < scale.runs; run++) {
    await load.server.ask("busiestThreadMicros");
    await load.bulk(jobsPerRun);
    busiest.push((await load.server.ask<number>("busiestThreadMicros")) / jobsPerRun);
    all.push(load.cpuMicrosPerJob.server);
  }
  return { busiest, all, conditions: { ...load.conditions, jobsPerRun } };
}
