// Runs one world from its seed, or a recorded list of calls, and says what broke, if anything.

import { Broken } from "../demand.ts";
import type { IdleTotals } from "../model/idle-books.ts";
import { Random } from "../random.ts";
import type { Call } from "./call.ts";
import { Generator } from "./generate.ts";
import { healAndDrain } from "./heal.ts";
import { KINDS, type Kind, makePlan, type Plan } from "./plan.ts";
import { type MakeEngine, makeRealEngine } from "./port.ts";
import { EngineWorld } from "./world.ts";

const CALLS_PER_WORLD = 250;

export interface Failure {
  readonly rule: string;
  readonly message: string;
  // The number of the call, from 1; one more than there are calls when it broke while draining.
  readonly callNumber: number;
}

export interface EngineWorldEnd {
  readonly seed: number;
  readonly kind: Kind;
  readonly plan: Plan;
  readonly calls: readonly Call[];
  readonly leases: number;
  readonly notes: ReadonlyMap<string, number>;
  readonly idle: IdleTotals;
  readonly failure: Failure | undefined;
}

export function runEngineWorld(
  seed: number,
  kind?: Kind,
  makeEngine: MakeEngine = makeRealEngine,
  onCall: (call: Call) => void = () => {},
): EngineWorldEnd {
  // The kind is drawn apart, so that a world is the same whether its kind was drawn or named.
  const chosen = kind ?? new Random(seed).pick(KINDS);
  const random = new Random(seed);
  const plan = makePlan(random, chosen);
  const world = new EngineWorld(makeEngine({ seed }), plan);
  const generator = new Generator(random, plan, world);
  const calls: Call[] = [];
  const failure = caught(calls, () => {
    const make = (call: Call) => {
      calls.push(call);
      onCall(call);
      world.apply(call);
    };
    for (const call of generator.opening()) make(call);
    while (calls.length < CALLS_PER_WORLD) make(generator.next());
    calls.push(DRAIN);
    healAndDrain(world);
  });
  if (calls.at(-1) === DRAIN) calls.pop();
  return {
    seed,
    kind: chosen,
    plan,
    calls,
    leases: world.leases,
    notes: world.model.notes,
    idle: world.model.idle.totals,
    failure,
  };
}

// Marks the number of the call after the last one while a world drains.
const DRAIN: Call = { at: 0, op: "tick" };

export function replay(
  end: Pick<EngineWorldEnd, "seed" | "plan">,
  calls: readonly Call[],
  makeEngine: MakeEngine = makeRealEngine,
  onCall: (call: Call) => void = () => {},
): Failure | undefined {
  const made: Call[] = [];
  return caught(made, () => {
    const world = new EngineWorld(makeEngine({ seed: end.seed }), end.plan);
    for (const call of calls) {
      made.push(call);
      onCall(call);
      world.apply(call);
    }
    made.push(DRAIN);
    healAndDrain(world);
  });
}

// An engine that throws anything but a refusal has broken too.
function caught(calls: readonly Call[], run: () => void): Failure | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    const rule = error instanceof Broken ? error.rule : `crash: ${(error as Error).message}`;
    const message = error instanceof Broken ? error.message : String((error as Error).stack);
    return { rule, message, callNumber: calls.length };
  }
}
