// One simulated hour, or some days, from a seed: the same seed gives the same events.

import { runInNewContext } from "node:vm";
import { Engine } from "@sluice/engine";
import { letterQueueConfig, whyText } from "@sluice/protocol";
import { Broker, type MakeEngine } from "../broker/broker.ts";
import { compareAll } from "../checks/compare.ts";
import { Disk } from "../disk/disk.ts";
import { Broken } from "../model/broken.ts";
import { Agenda } from "../time/agenda.ts";
import { Clock } from "../time/clock.ts";
import { Faults } from "../workload/faults.ts";
import { Operators } from "../workload/operator.ts";
import { makePlan, type Plan } from "../workload/plan.ts";
import { Producers } from "../workload/producer.ts";
import { Team } from "../workload/team.ts";
import { Random } from "../worlds/random.ts";
import { Trace } from "./trace.ts";

export const HOUR_MS = 3_600_000;
const START_AT = 1_700_000_000_000;
// Adds end before the hour does, so that the last of it is about what is left.
const QUIET_MS = 300_000;
const DRAIN_MS = 600_000;
// A simulated hour takes a tenth of a second; what takes this long does not end.
const HANG_MS = 6_000;
// Times at which the drain looks for queues without workers.
const STAFF_EVERY_MS = 1_000;

export interface RunOptions {
  readonly seed: number;
  readonly lengthMs?: number;
  readonly makeEngine?: MakeEngine;
  readonly answersEarly?: boolean;
  readonly print?: (line: string) => void;
}

export interface RunEnd {
  readonly seed: number;
  readonly hash: string;
  readonly lengthMs: number;
  readonly events: number;
  readonly crashes: number;
  readonly dispatches: number;
  readonly failure: string | undefined;
  readonly last: readonly string[];
}

interface Cast {
  readonly plan: Plan;
  readonly broker: Broker;
  readonly team: Team;
  readonly producers: Producers;
  readonly operators: Operators;
  readonly faults: Faults;
}

export function runSeed(options: RunOptions): RunEnd {
  const { seed, lengthMs = HOUR_MS } = options;
  const trace = new Trace(options.print);
  const cast = makeCast(options, trace, lengthMs);
  const failure = caught(() => play(cast, lengthMs), HANG_MS * Math.ceil(lengthMs / HOUR_MS));
  const { crashes, dispatches } = cast.broker;
  const { events, hash } = trace;
  return { seed, hash, lengthMs, events, crashes, dispatches, failure, last: trace.last() };
}

function makeCast(options: RunOptions, trace: Trace, lengthMs: number): Cast {
  const {
    seed,
    makeEngine = (parts) => new Engine({ ...parts, letterQueue: letterQueueConfig }),
    answersEarly = false,
  } = options;
  const random = new Random(seed);
  const plan = makePlan(random);
  const agenda = new Agenda();
  const clock = new Clock(agenda, START_AT);
  const disk = new Disk(agenda, random, plan.copiesFacts);
  const broker = new Broker({
    seed,
    agenda,
    clock,
    disk,
    random,
    trace,
    makeEngine,
    answersEarly,
    trims: lengthMs > HOUR_MS,
  });
  const team = new Team(broker, random, plan);
  const producers = new Producers(broker, random);
  const operators = new Operators(broker, random, plan, team);
  return {
    plan,
    broker,
    team,
    producers,
    operators,
    faults: new Faults(broker, random, plan, team),
  };
}

function play(cast: Cast, lengthMs: number): void {
  const { plan, broker, team, producers, operators, faults } = cast;
  const { agenda } = broker.parts;
  operators.open();
  for (const queue of plan.queues) {
    team.start(queue.name, queue.workers);
    producers.start(queue);
  }
  if (plan.hasOperators) operators.start();
  faults.start();
  while (agenda.step(lengthMs - QUIET_MS));
  producers.isStopped = true;
  while (agenda.step(lengthMs));
  faults.heal();
  operators.heal();
  team.heal(broker.ledger.queues.keys());
  drain(cast, lengthMs);
  compareAll(broker.engine, broker.ledger, broker.now);
}

function drain({ broker, team }: Cast, fromMs: number): void {
  const { agenda } = broker.parts;
  for (let until = fromMs; until <= fromMs + DRAIN_MS; until += STAFF_EVERY_MS) {
    while (agenda.step(until));
    if (broker.ledger.jobs.size === 0) return;
    team.staff(broker.ledger.queues.keys());
  }
  const stuck = [...broker.ledger.jobs.values()].slice(0, 5).map(({ id, state, queue, gates }) => {
    const why = whyText(broker.engine.why(id, broker.now), broker.now);
    return `job ${id} of ${queue} [${gates}] is ${state}: ${why}`;
  });
  const count = broker.ledger.jobs.size;
  throw new Broken("drain", `${count} jobs are left after 10 minutes: ${stuck.join("; ")}`);
}

// An engine that throws anything but a refusal, or that never answers, has broken too. Only the
// virtual machine can end a call that does not return.
function caught(act: () => void, timeoutMs: number): string | undefined {
  try {
    runInNewContext("act()", { act }, { timeout: timeoutMs });
    return undefined;
  } catch (error) {
    if (error instanceof Broken) return error.message;
    const { code, stack } = error as NodeJS.ErrnoException;
    if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return `hang: no end after ${timeoutMs} ms`;
    return `crash: ${stack}`;
  }
}
