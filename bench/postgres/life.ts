// The whole life of jobs, from add to the stored ack, over one PostgreSQL server: Sluice with its
// log there beside queues that live in its tables. Four processes, each with a producer and a
// consumer.

import type { Figure, Group, Scale } from "../figure.ts";
import type { PeerServer } from "../peers/server.ts";
import type { ClientName } from "../peers/system.ts";
import { percentileOf } from "../percentile.ts";
import type { Process } from "../process.ts";
import { figureOf } from "../spread.ts";
import type { Finished } from "./client.ts";
import { PostgresRig } from "./rig.ts";
import { serverMicros } from "./server-time.ts";

const CLIENTS = 4;
const JOBS = 200_000;
const WARM_UP = 40_000;
const LOOK_MS = 5;
const ALONE = 300;
const REST_MS = 5;
// Of a run that is not over then, something is broken.
const RUN_MS_MAX = 600_000;
const PAYLOAD_BYTES = 512;

interface System {
  readonly name: string;
  readonly client: ClientName;
  readonly variant?: string;
}

const SLUICE: System = { name: "Sluice", client: "sluice" };
const PG_BOSS: System = { name: "pg-boss", client: "pg-boss" };
// In batches for many jobs, without them for one at a time: what serves it best.
const LIFE = [
  SLUICE,
  PG_BOSS,
  { name: "Graphile Worker, batched", client: "graphile", variant: "batched" },
] as const;
const LATENCY = [SLUICE, PG_BOSS, { name: "Graphile Worker", client: "graphile" }] as const;

export const lifeGroup: Group = { name: "life", run: measureLife };
export const latencyGroup: Group = { name: "latency", run: measureLatency };

class Contestant {
  readonly system: System;
  readonly #clients: readonly Process[];
  readonly #servers: readonly PeerServer[];
  #next = 1;

  constructor(system: System, clients: readonly Process[], servers: readonly PeerServer[]) {
    this.system = system;
    this.#clients = clients;
    this.#servers = servers;
  }

  static async open(rig: PostgresRig, system: System, count: number): Promise<Contestant> {
    const isLatency = count === 1;
    const own = system === SLUICE ? await rig.sluice("postgres") : undefined;
    const clients: Process[] = [];
    for (let i = 0; i < count; i++) {
      clients.push(await rig.client(system, own?.address ?? rig.url, isLatency));
    }
    const servers = own === undefined ? [rig.database] : [rig.database, own.server];
    return new Contestant(system, clients, servers);
  }

  async run(jobs: number): Promise<LifeSample> {
    const first = this.#next;
    this.#next += jobs;
    await this.#all("start");
    const before = await this.#finished();
    const microsBefore = this.#serverMicros();
    const each = jobs / this.#clients.length;
    const from = performance.now();
    await Promise.all(this.#clients.map((client, i) => client.ask("add", first + i * each, each)));
    const last = first + jobs - 1;
    await this.#until(before, { jobs, sum: ((first + last) * jobs) / 2 });
    const tookMs = performance.now() - from;
    const micros = this.#serverMicros() - microsBefore;
    await this.#all("stop");
    return { perSecond: (jobs * 1000) / tookMs, serverMicros: micros / jobs };
  }

  async latencies(jobs: number): Promise<number[]> {
    const first = this.#next;
    this.#next += jobs;
    await this.#all("start");
    const took = await this.#clients[0]!.ask<number[]>("latencies", first, jobs, REST_MS);
    await this.#all("stop");
    return took;
  }

  async #until(before: Finished, expected: Finished): Promise<void> {
    const endAt = performance.now() + RUN_MS_MAX;
    for (;;) {
      const now = await this.#finished();
      const jobs = now.jobs - before.jobs;
      if (jobs >= expected.jobs) {
        await this.#all("settle");
        if (now.sum - before.sum === expected.sum) return;
        throw new Error(
          `${this.system.name}: ${jobs} jobs finished, and not those that were added`,
        );
      }
      if (performance.now() > endAt) throw new Error(`${this.system.name}: ${jobs} finished only`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #all(question: "start" | "stop" | "settle"): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.ask(question)));
  }

  async #finished(): Promise<Finished> {
    const all = await Promise.all(this.#clients.map((one) => one.ask<Finished>("finished")));
    return {
      jobs: all.reduce((total, { jobs }) => total + jobs, 0),
      sum: all.reduce((total, { sum }) => total + sum, 0),
    };
  }

  #serverMicros(): number {
    return this.#servers.reduce((total, { pid }) => total + serverMicros(pid), 0);
  }
}

interface LifeSample {
  readonly perSecond: number;
  /** Of the servers for a job: the database, and Sluice's own. */
  readonly serverMicros: number;
}

/** All are open from the begin on; each run has them in another order. */
async function inTurns<T>(
  rig: PostgresRig,
  { systems, clients, runs }: { systems: readonly System[]; clients: number; runs: number },
  act: (contestant: Contestant, isWarmUp: boolean) => Promise<T>,
): Promise<T[][]> {
  const open: Contestant[] = [];
  for (const system of systems) open.push(await Contestant.open(rig, system, clients));
  for (const one of open) await act(one, true);
  const samples = systems.map((): T[] => []);
  for (let run = 0; run < runs; run++) {
    for (let i = 0; i < open.length; i++) {
      const at = (run + i) % open.length;
      samples[at]!.push(await act(open[at]!, false));
    }
  }
  return samples;
}

async function measureLife({ runs, size }: Scale): Promise<Figure[]> {
  await using rig = await PostgresRig.start();
  const jobs = size(JOBS);
  const plan = { systems: LIFE, clients: CLIENTS, runs };
  const samples = await inTurns(rig, plan, (one, isWarmUp) => one.run(isWarmUp ? WARM_UP : jobs));
  const conditions = { ...conditionsOf(rig), jobs, producers: CLIENTS, consumers: CLIENTS };
  const rates = samples.map((of) => of.map(({ perSecond }) => perSecond));
  const micros = samples.map((of) => of.map((sample) => sample.serverMicros));
  const times = (all: number[][], better: (...of: number[]) => number): number[] =>
    all[0]!.map((own, run) => own / better(...all.slice(1).map((of) => of[run]!)));
  const target = { atLeast: 3 };
  const saved = times(micros, Math.min).map((ratio) => 1 / ratio);
  return [
    ...LIFE.flatMap(({ name }, at) => [
      figureOf(`whole life, ${name}`, "jobs/s", rates[at]!, conditions),
      figureOf(`servers' processor time, ${name}`, "µs/job", micros[at]!, conditions),
    ]),
    {
      ...figureOf("whole life against the better one", "×", times(rates, Math.max), conditions),
      target,
    },
    figureOf("servers' processor time against the better one", "×", saved, conditions),
  ];
}

async function measureLatency({ runs, size }: Scale): Promise<Figure[]> {
  await using rig = await PostgresRig.start();
  const jobs = size(ALONE);
  const plan = { systems: LATENCY, clients: 1, runs };
  const samples = await inTurns(rig, plan, (one) => one.latencies(jobs));
  const conditions = { ...conditionsOf(rig), jobs, restMs: REST_MS };
  const shares = [0.5, 0.99] as const;
  return shares.flatMap((share) => {
    const what = `add → handler, one at a time, p${share * 100}`;
    const found = samples.map((of) => of.map((took) => percentileOf(took, share)));
    const best = found[0]!.map((own, run) => own / Math.min(found[1]![run]!, found[2]![run]!));
    return [
      ...LATENCY.map(({ name }, at) => figureOf(`${what}, ${name}`, "ms", found[at]!, conditions)),
      { ...figureOf(`${what}, by the better one`, "ratio", best, conditions), target: AT_MOST },
    ];
  });
}

const AT_MOST = { atMost: 1 };

function conditionsOf(rig: PostgresRig): { server: string; disk: string; payloadBytes: number } {
  return { server: rig.version, disk: rig.disk, payloadBytes: PAYLOAD_BYTES };
}
