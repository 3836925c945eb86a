// Small scenes for planted bugs that chance finds too seldom. Each answers what is broken, or
// undefined.

import type { Engine } from "@sluice/engine";
import type { MakeEngine } from "../broker/broker.ts";
import { policyOf } from "../model/policy.ts";

type Scene = (engine: Engine) => string | undefined;

export const DEDICATED: Readonly<Record<string, Scene>> = {
  "an offer stays with a queue that lost its workers": (engine) => {
    engine.setGate("g", { concurrency: 1 }, 0);
    for (const queue of ["first", "second"]) {
      engine.setQueue(queue, policyOf(queue, {}), 0);
      engine.want(queue, "w", 2, 0);
    }
    const { id } = engine.add("first", { gates: ["g"] }, 0);
    served(engine, 0);
    engine.add("first", { gates: ["g"] }, 1);
    const next = engine.add("second", { gates: ["g"] }, 1).id;
    served(engine, 1);
    // The place is offered to the first queue, which has no worker when it could take it.
    engine.ack(id, 1, 2);
    engine.want("first", "w", 0, 2);
    return served(engine, 2).includes(next)
      ? undefined
      : "the second queue is not offered the place";
  },
  "newcomers starve the round": (engine) => {
    engine.setQueue("q", policyOf("q", { tiers: 1 }), 0);
    const old = new Set<number>();
    for (let i = 0; i < 40; i++) {
      old.add(engine.add("q", { fairnessKey: `old-${i % 2}`, weight: 20 }, 0).id);
    }
    let served = 0;
    for (let i = 0; i < 40; i++) {
      for (const half of ["a", "b"]) engine.add("q", { fairnessKey: `new-${i}-${half}` }, i);
      for (const { id } of engine.lease("q", 1, i)) if (old.has(id)) served += 1;
    }
    return served >= 15 ? undefined : `${served} of 40 dispatches went to those who waited first`;
  },
};

function served(engine: Engine, now: number): number[] {
  const ids: number[] = [];
  while (engine.nextWake(now) <= now) for (const { id } of engine.dispatch(now)) ids.push(id);
  return ids;
}

export function play(name: string, makeEngine: MakeEngine): string | undefined {
  return DEDICATED[name]!(makeEngine({ seed: 1, facts: [] }));
}
