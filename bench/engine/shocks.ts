// One call that concerns very many lanes, gates or jobs at once must spread its work over the calls
// that follow. Each of them is timed, until the engine has nothing left to do.

import { setImmediate } from "node:timers/promises";
import type { Engine } from "@sluice/engine";
import type { Figure, Group, Scale } from "../figure.ts";
import { Calls, GcPauses, longestCallFigures, type TimedRun } from "./calls.ts";
import {
  EngineJobs,
  EngineLoad,
  expectCount,
  fill,
  GATE,
  grouped,
  makeEngine,
  QUEUE,
} from "./load.ts";

const READY_LANES = 1_000_000;
const GATES = 100_000;
const JOBS = 1_000_000;
const LANES_OF_JOBS = 100_000;
const SLOTS = 100;
const COOLDOWN_MS = 60_000;
// Far beyond what any shock needs: an engine that never settles is a bug and not a slow engine.
const CALLS_MAX = 1_000_000;

interface Shock {
  readonly name: string;
  readonly size: number;
  when(size: number): string;
  // Prepares an engine and answers what is to be timed.
  prepare(size: number, scale: Scale): (calls: Calls) => void;
}

const SHOCKS: readonly Shock[] = [
  {
    name: "gate-shuts",
    size: READY_LANES,
    when: (lanes) => `when a gate shuts under ${grouped(lanes)} ready lanes`,
    prepare: prepareShut,
  },
  {
    name: "gates-open",
    size: GATES,
    when: (gates) => `when ${grouped(gates)} gates open in one ms`,
    prepare: prepareOpening,
  },
  {
    name: "queue-deleted",
    size: JOBS,
    when: (jobs) => `when a queue of ${grouped(jobs)} jobs is deleted`,
    prepare: (jobs, scale) => prepareRemoval(jobs, scale, "deleteQueue"),
  },
  {
    name: "queue-purged",
    size: JOBS,
    when: (jobs) => `when a queue of ${grouped(jobs)} jobs is purged`,
    prepare: (jobs, scale) => prepareRemoval(jobs, scale, "purge"),
  },
];

export const shockGroups: readonly Group[] = SHOCKS.map((shock) => ({
  name: `shock-${shock.name}`,
  run: (scale) => measure(shock, scale),
}));

async function measure(shock: Shock, scale: Scale): Promise<Figure[]> {
  const size = scale.size(shock.size);
  new EngineLoad({ lanes: 10, isGated: true }).warmUp();
  shock.prepare(size / 10, scale)(new Calls());
  const runs: TimedRun[] = [];
  for (let run = 0; run < scale.runs; run++) {
    const strike = shock.prepare(size, scale);
    globalThis.gc?.();
    // The collection just requested is reported before the pauses are observed.
    await setImmediate();
    const timed = { calls: new Calls(), gc: new GcPauses() };
    strike(timed.calls);
    await timed.gc.stop();
    runs.push(timed);
  }
  return longestCallFigures(runs, shock.when(size), { size });
}

// All lanes are ready, a worker is free, and the gate shuts; later it opens again.
function prepareShut(lanes: number): (calls: Calls) => void {
  const engine = makeEngine();
  engine.setGate(GATE, { rate: 1e9, burst: 1e9 }, 0);
  fill(engine, new EngineJobs(lanes, GATE), lanes, 0);
  engine.want(QUEUE, "worker", SLOTS, 0);
  return (calls) => {
    const from = performance.now();
    engine.cooldown(GATE, COOLDOWN_MS, "benchmark", 0);
    calls.note("cooldown", from);
    expectCount("jobs past a shut gate", settle(engine, 0, calls), 0);
    const again = performance.now();
    engine.clearCooldown(GATE, 0);
    calls.note("clearCooldown", again);
    expectCount("jobs past the open gate", settle(engine, 0, calls), SLOTS);
  };
}

// A lane waits for each gate, and all gates cool down until the same moment.
function prepareOpening(gates: number): (calls: Calls) => void {
  const engine = makeEngine();
  engine.setGate("gate:*", { rate: 1000 }, 0);
  for (let i = 0; i < gates; i++) {
    const gate = `gate:${i}`;
    engine.cooldown(gate, COOLDOWN_MS, "benchmark", 0);
    engine.add(QUEUE, { fairnessKey: `t${i}`, gates: [gate] }, 0);
  }
  engine.want(QUEUE, "worker", gates, 0);
  settle(engine, 0, new Calls());
  return (calls) => {
    expectCount("jobs past opened gates", settle(engine, COOLDOWN_MS, calls), gates);
  };
}

function prepareRemoval(
  jobs: number,
  scale: Scale,
  verb: "deleteQueue" | "purge",
): (calls: Calls) => void {
  const engine = makeEngine();
  engine.setGate(GATE, { rate: 1e9, burst: 1e9 }, 0);
  fill(engine, new EngineJobs(scale.size(LANES_OF_JOBS), GATE), jobs, 0);
  return (calls) => {
    const from = performance.now();
    engine[verb](QUEUE, 0);
    calls.note(verb, from);
    settle(engine, 0, calls);
    if (verb === "purge") expectCount("jobs left", engine.queries.queueStats(QUEUE).waiting, 0);
    else
      expectCount(
        "queues left",
        engine.queries.queueNames().filter((name) => name === QUEUE).length,
        0,
      );
  };
}

// Calls until there is nothing to do at this moment; answers how many jobs went out.
function settle(engine: Engine, now: number, calls: Calls): number {
  let dispatched = 0;
  for (let i = 0; i < CALLS_MAX; i++) {
    const from = performance.now();
    const wake = engine.nextWake(now);
    calls.note("nextWake", from);
    if (wake > now) return dispatched;
    const began = performance.now();
    const leases = engine.dispatch(now);
    calls.note("dispatch", began);
    dispatched += leases.length;
    for (const { id, lease } of leases) {
      const acked = performance.now();
      engine.ack(id, lease, now);
      calls.note("ack", acked);
    }
  }
  throw new Error(`the engine did not settle in ${CALLS_MAX} calls`);
}
