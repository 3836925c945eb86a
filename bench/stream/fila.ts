// The four figures that Fila, a broker with fairness keys, publishes of itself, measured here. Its
// own were taken on another machine: each stands in the conditions and not beside the value.

import type { Figure, Group, Scale } from "../figure.ts";
import { rounded } from "../spread.ts";
import { StreamLoad } from "./load.ts";
import { measureBulk } from "./throughput.ts";

const KILOBYTE = 1024;
const KEYS = [10, 10_000, 1_000_000];
const WAITING_JOBS = 1_000_000;
const WAITING_JOBS_MIN = 100_000;
const TENANTS = 100;
const JOBS_PER_TENANT = 1000;
const JOBS_BEFORE_NEWCOMER = 500;

export const filaGroups: readonly Group[] = [
  {
    name: "1-kb",
    run: async (scale, report) => {
      const { conditions, ...figure } = await measureBulk(scale, KILOBYTE, 10);
      const metric = "add + work + ack, fsync, 1 KB";
      report({ metric, ...figure, conditions: { ...conditions, fila: "2,393 jobs/s" } });
    },
  },
  { name: "keys", run: measureKeys },
  { name: "bytes-per-message", run: measureMemory },
  { name: "newcomer", run: measureNewcomer },
];

// How much slower many keys are than ten.
async function measureKeys(scale: Scale, report: (figure: Figure) => void): Promise<void> {
  let ten = 0;
  for (const lanes of KEYS) {
    const { conditions, ...figure } = await measureBulk(scale, KILOBYTE, lanes);
    if (lanes === KEYS[0]) ten = figure.value;
    const fall = rounded((1 - figure.value / ten) * 100);
    const metric = `add + work + ack, fsync, 1 KB, ${lanes} keys`;
    const fila = "58 % slower from 10 to 10,000 keys";
    report({ metric, ...figure, conditions: { ...conditions, percentSlowerThan10: fall, fila } });
  }
}

async function measureMemory(scale: Scale, report: (figure: Figure) => void): Promise<void> {
  const jobs = Math.max(WAITING_JOBS_MIN, scale.size(WAITING_JOBS));
  await using load = await StreamLoad.open({ payloadBytes: KILOBYTE, lanes: 10, works: false });
  // What the first jobs cost is not of the others: tables and buffers of their own size.
  await load.producer.ask("bulk", WAITING_JOBS_MIN);
  const before = await load.server.ask<number>("memoryBytes");
  await load.producer.ask("bulk", jobs);
  const after = await load.server.ask<number>("memoryBytes");
  report({
    metric: "memory of the server for a waiting message of 1 KB",
    value: rounded((after - before) / jobs),
    unit: "bytes",
    conditions: {
      ...load.conditions,
      jobs,
      how: "growth of the resident set; payloads beyond 256 MiB are in the log",
      fila: "983 to 1,760 bytes",
    },
  });
}

async function measureNewcomer(_scale: Scale, report: (figure: Figure) => void): Promise<void> {
  await using load = await StreamLoad.open({ payloadBytes: KILOBYTE, lanes: 10, works: false });
  await load.producer.ask("backlog", TENANTS, JOBS_PER_TENANT);
  await load.consumer.ask("untilNewcomer", JOBS_BEFORE_NEWCOMER);
  const rest = load.consumer.answer<number>();
  await load.producer.ask("newcomer");
  report({
    metric: "deliveries before a newcomer's first",
    value: await rest,
    unit: "jobs",
    conditions: {
      ...load.conditions,
      backlog: `${TENANTS} tenants with ${JOBS_PER_TENANT} jobs each, one consumer, prefetch 1`,
      counted: "from the moment before the newcomer's add to its delivery",
      fila: "100,099 deliveries",
    },
  });
}
