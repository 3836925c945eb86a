// Where the server's time and memory go in the row in which Sluice is furthest behind its peers
// over the network: one job at a time, relaxed. The three largest costs of each are printed; the
// profiles stay where SLUICE_BENCH_PROFILE names a directory.

import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench, Conditions, Figure, Group, Scale } from "../figure.ts";
import { Party } from "../peers/party.ts";
import { SLUICE, SYSTEMS } from "../peers/systems.ts";
import { Scratch } from "../scratch.ts";
import { rounded } from "../spread.ts";
import { type Cost, type CpuProfile, cpuCosts, type HeapProfile, heapCosts } from "./costs.ts";

const JOBS = { quick: 2000, usual: 10_000, full: 10_000 } as const;
const WARM_JOBS = 1000;
const REST_MS = 1;
const COSTS = 3;
const MICROS_PER_MS = 1000;
const MIB = 2 ** 20;
// Waits, reads and whatever else the operating system and Node do below JavaScript.
const BELOW = "(program)";

const singlesGroup: Group = {
  name: "singles-relaxed",
  async run(scale, report) {
    using scratch = new Scratch();
    chmodSync(scratch.dir, 0o711);
    process.env.SLUICE_BENCH_PROFILE ??= scratch.fresh();
    const dir = process.env.SLUICE_BENCH_PROFILE;
    const before = new Set(readdirSync(dir));
    const { fromEnd, untilEnd } = await load(scratch, scale);
    const fresh = readdirSync(dir).filter((name) => !before.has(name));
    const read = (ending: string): unknown =>
      JSON.parse(readFileSync(join(dir, one(fresh, ending)), "utf8"));
    const jobs = JOBS[scale.name];
    const conditions = { work: "one add in flight, durability os", jobs, disk: scratch.disk };
    const cpu = cpuCosts(read(".cpuprofile") as CpuProfile, fromEnd, untilEnd);
    for (const figure of cpuFigures(cpu, jobs, conditions)) report(figure);
    for (const figure of heapFigures(heapCosts(read(".heapprofile") as HeapProfile), conditions)) {
      report(figure);
    }
  },
};

export const profileBench: Bench = { name: "profile", isOnlyNamed: true, groups: [singlesGroup] };

interface Window {
  // Microseconds before the server's end.
  readonly fromEnd: number;
  readonly untilEnd: number;
}

// The server writes its profiles when it ends, so all times are measured back from its end.
async function load(scratch: Scratch, scale: Scale): Promise<Window> {
  const system = SYSTEMS.find(({ name }) => name === SLUICE)!;
  const party = await Party.open(system, "relaxed", scratch, { isLatency: true });
  let from = 0;
  let until = 0;
  try {
    await work(party, WARM_JOBS);
    from = performance.now();
    await work(party, JOBS[scale.name]);
    until = performance.now();
  } finally {
    await party[Symbol.asyncDispose]();
  }
  const end = performance.now();
  return { fromEnd: (end - from) * MICROS_PER_MS, untilEnd: (end - until) * MICROS_PER_MS };
}

async function work(party: Party, count: number): Promise<void> {
  const first = party.take(count);
  await party.ready({ first, count });
  await party.start();
  await party.produce("singles", first, count, REST_MS);
  await party.finished();
  await party.stop();
}

function one(names: readonly string[], ending: string): string {
  const found = names.find((name) => name.endsWith(ending));
  if (found === undefined) throw new Error(`the server has left no ${ending}`);
  return found;
}

function cpuFigures(costs: readonly Cost[], jobs: number, conditions: Conditions): Figure[] {
  const total = costs.reduce((sum, { amount }) => sum + amount, 0);
  const below = costs.find(({ what }) => what === BELOW)?.amount ?? 0;
  const share = (what: string, amount: number): Figure => ({
    metric: `time of the server: ${what}`,
    value: rounded((100 * amount) / total),
    unit: "%",
    conditions,
  });
  const named = costs.filter(({ what }) => what !== BELOW).slice(0, COSTS);
  return [
    {
      metric: "time of the server for a job, the profiler's own included",
      value: rounded(total / jobs),
      unit: "µs",
      conditions,
    },
    share("below JavaScript", below),
    ...named.map(({ what, amount }) => share(what, amount)),
  ];
}

function heapFigures(costs: readonly Cost[], conditions: Conditions): Figure[] {
  const bytes = (metric: string, amount: number): Figure => ({
    metric,
    value: rounded(amount / MIB),
    unit: "MiB",
    conditions,
  });
  const total = costs.reduce((sum, { amount }) => sum + amount, 0);
  return [
    bytes("heap of the server at its end, sampled", total),
    ...costs.slice(0, COSTS).map(({ what, amount }) => bytes(`held by ${what}`, amount)),
  ];
}
