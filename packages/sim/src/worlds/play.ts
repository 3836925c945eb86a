// Makes the calls of one world, drains it, and says what broke, if anything.

import { Broken } from "../demand.ts";
import { type Call, describe } from "../model/call.ts";
import { healAndDrain } from "./heal.ts";
import type { Kind, Plan } from "./plan.ts";
import type { MakeEngine } from "./port.ts";
import { EngineWorld } from "./world.ts";

export interface EngineRun {
  readonly seed: number;
  readonly kind: Kind;
  readonly plan: Plan;
  readonly makeEngine: MakeEngine;
}

export interface Failure {
  readonly rule: string;
  readonly message: string;
  // The number of the call, from 1; one more than there are calls when it broke while draining.
  readonly callNumber: number;
}

export interface Played {
  readonly calls: readonly Call[];
  readonly world: EngineWorld;
  readonly failure: Failure | undefined;
}

export function play(
  { seed, plan, makeEngine }: EngineRun,
  callsOf: (world: EngineWorld) => Iterable<Call>,
  print?: (line: string) => void,
): Played {
  const world = new EngineWorld(makeEngine({ seed }), plan);
  const calls: Call[] = [];
  let isDraining = false;
  try {
    for (const call of callsOf(world)) {
      calls.push(call);
      print?.(describe(call));
      world.apply(call);
    }
    isDraining = true;
    healAndDrain(world);
    return { calls, world, failure: undefined };
  } catch (error) {
    // An engine that throws anything but a refusal has broken too.
    const rule = error instanceof Broken ? error.rule : `crash: ${(error as Error).message}`;
    const message = error instanceof Broken ? error.message : String((error as Error).stack);
    const callNumber = calls.length + (isDraining ? 1 : 0);
    return { calls, world, failure: { rule, message, callNumber } };
  }
}
