// The program of a child: measures one case of the tree that it is given, by the tree's own loads,
// and prints processor time for a job and jobs a second. Trees of earlier versions have other names
// for the same loads.
//
//   node --expose-gc bench/against/measure.ts ../other-clone stream-bulk

import { join, resolve } from "node:path";
import { Scratch } from "../scratch.ts";
import { spreadOf } from "../spread.ts";
import { measureHttp } from "./http.ts";

const [tree = ".", name = ""] = process.argv.slice(2);
const [kind, ...rest] = name.split("-");
const RUNS = 3;
const SIZE = Number(process.env.SLUICE_BENCH_SIZE ?? 1);

type Result = Record<string, number>;

interface StreamLoad extends AsyncDisposable {
  readonly cpuMicrosPerJob: { server: number; producer: number; consumer: number };
  bulk(jobs: number): Promise<number>;
  singles(jobs: number, inFlight: number): Promise<number>;
  latencies(jobs: number, perSecond: number, shares: readonly number[]): Promise<number[]>;
}

interface EmbeddedLoad extends AsyncDisposable {
  readonly cpuMicrosPerJob: number;
  bulk(jobs: number): Promise<number>;
  singles(jobs: number, inFlight: number): Promise<number>;
}

interface EngineLoad {
  warmUp(): EngineLoad;
  run(jobs: number): number;
}

type Loads = Readonly<Record<string, { open(options: object): Promise<unknown> }>>;

async function loadOf<T>(path: string, name: string, options: object): Promise<T> {
  const loads: Loads = await import(resolve(tree, path));
  return (await (loads[name] ?? loads.Load!).open(options)) as T;
}

const median = (values: readonly number[]): number => spreadOf(values).median;

const JOBS = { bulk: 200_000, json: 200_000, 1: 2000, 64: 40_000, 1000: 80_000 } as const;

function jobsOf(work: string): number {
  const jobs = JOBS[work as keyof typeof JOBS];
  return work === "1" ? jobs : jobs * SIZE;
}

async function stream(work: string, perSecond: string): Promise<Result> {
  const options = { payloadBytes: 512, lanes: 10 };
  await using load = await loadOf<StreamLoad>("bench/stream/load.ts", "StreamLoad", options);
  if (work === "half") return await latencies(load, Number(perSecond));
  const jobs = jobsOf(work);
  const run = (): Promise<number> =>
    work === "bulk" ? load.bulk(jobs) : load.singles(jobs, Number(work));
  await run();
  const speeds: number[] = [];
  const cpu: StreamLoad["cpuMicrosPerJob"][] = [];
  for (let i = 0; i < RUNS; i++) {
    speeds.push(await run());
    cpu.push(load.cpuMicrosPerJob);
  }
  return {
    "server µs": median(cpu.map(({ server }) => server)),
    "producer µs": median(cpu.map(({ producer }) => producer)),
    "consumer µs": median(cpu.map(({ consumer }) => consumer)),
    "jobs/s": median(speeds),
  };
}

async function latencies(load: StreamLoad, perSecond: number): Promise<Result> {
  const shares = [0.5, 0.99];
  await load.latencies(2 * perSecond, perSecond, shares);
  const runs: number[][] = [];
  for (let i = 0; i < RUNS; i++) runs.push(await load.latencies(perSecond, perSecond, shares));
  return { "p50 ms": median(runs.map(([p50]) => p50!)), "p99 ms": median(runs.map(([, p]) => p!)) };
}

async function embedded(work: string, durability: string): Promise<Result> {
  using scratch = new Scratch();
  const place = durability === "memory" ? {} : { dir: scratch.fresh() };
  const options = { durability, ...place, shape: work === "json" ? "json" : "bytes" };
  await using load = await loadOf<EmbeddedLoad>("bench/embedded/load.ts", "EmbeddedLoad", options);
  const jobs = jobsOf(work);
  const isBulk = work === "bulk" || work === "json";
  const run = (): Promise<number> => (isBulk ? load.bulk(jobs) : load.singles(jobs, Number(work)));
  await run();
  const speeds: number[] = [];
  const cpu: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    speeds.push(await run());
    cpu.push(load.cpuMicrosPerJob);
  }
  return { "process µs": median(cpu), "jobs/s": median(speeds) };
}

const ENGINE_JOBS = 500_000;
const FACTS_KEPT = 100;

// An earlier engine passed each fact to a function. A function that does nothing is compiled away,
// and the facts with it. This one keeps as many facts as a batch of calls makes, as the newer
// engine does.
function keeping(): (fact: unknown) => void {
  const facts: unknown[] = [];
  return (fact) => {
    if (facts.push(fact) === FACTS_KEPT) facts.length = 0;
  };
}

async function engine(facts: string, lanes: string): Promise<Result> {
  const loads = await import(resolve(tree, "bench/engine/load.ts"));
  const told = loads.EngineLoad === undefined ? { facts: keeping() } : { tellsFacts: true };
  const options = { lanes: Number(lanes), isGated: true, ...(facts === "facts" ? told : {}) };
  const load: EngineLoad = new (loads.EngineLoad ?? loads.Load)(options).warmUp();
  const speeds: number[] = [];
  const cpu: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const before = process.cpuUsage();
    speeds.push(load.run(ENGINE_JOBS));
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / ENGINE_JOBS);
  }
  return { "process µs": median(cpu), "jobs/s": median(speeds) };
}

const MEASURES: Readonly<Record<string, (...of: string[]) => Promise<Result>>> = {
  stream: (work, perSecond = "") => stream(work!, perSecond),
  embedded: (work, durability) => embedded(work!, durability!),
  engine: (facts, lanes) => engine(facts!, lanes!),
  http: (batch) =>
    measureHttp(join(resolve(tree), "packages/cli/src/main.ts"), Number(batch), RUNS, SIZE),
};

const measure = MEASURES[kind!];
if (measure === undefined) throw new Error(`there is no case ${name}`);
console.log(JSON.stringify(await measure(...rest)));
process.exit();
