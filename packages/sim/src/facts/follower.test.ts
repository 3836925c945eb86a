// Each check of the facts can fail: facts of a real engine, and one of them changed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, type Fact } from "@sluice/engine";
import { queueConfig } from "@sluice/engine/testing";
import { letterQueueConfig } from "@sluice/protocol";
import { Broken } from "../demand.ts";
import { Follower } from "./follower.ts";

type Leased = Extract<Fact, { fact: "leased" }>;

// Jobs of two lanes and two tiers, one with a delay; all but the delayed one are dispatched.
function story(tierOrder: "strict" | readonly number[] = "strict"): Fact[] {
  const facts: Fact[] = [];
  const engine = new Engine({ facts, letterQueue: letterQueueConfig });
  engine.setQueue("q", queueConfig("q", { tiers: 2, tierOrder }), 1);
  for (let i = 0; i < 6; i++) {
    for (const fairnessKey of ["a", "b"]) engine.add("q", { fairnessKey, priority: 1 }, 2);
  }
  engine.add("q", { fairnessKey: "a", priority: 0 }, 2);
  engine.add("q", { delayMs: 100 }, 2);
  engine.want("q", "w", 13, 3);
  while (engine.nextWake(3) <= 3) engine.dispatch(3);
  engine.tick(102);
  return facts;
}

function follow(facts: readonly Fact[]): void {
  const follower = new Follower();
  follower.hear({ at: 0, fact: "ids", last: 0, seq: 0 });
  follower.endReplay();
  for (const fact of facts) follower.hear(fact);
}

// The facts with their leases in another order.
function leasesBy(facts: readonly Fact[], order: (leases: Leased[]) => Leased[]): Fact[] {
  const leases = order(facts.filter((fact) => fact.fact === "leased"));
  return facts.map((fact) => (fact.fact === "leased" ? leases.shift()! : fact));
}

const odd = ({ id }: Leased): boolean => id % 2 === 1;

const CHANGES: readonly [rule: string, change: () => Fact[]][] = [
  ["order of a strand", () => leasesBy(story(), ([first, ...rest]) => [first!, ...rest.reverse()])],
  ["strict tiers", () => leasesBy(story(), ([first, ...rest]) => [...rest, first!])],
  [
    "fair shares",
    () => leasesBy(story([1, 1]), (all) => [...all.filter(odd), ...all.filter((one) => !odd(one))]),
  ],
  [
    "lease numbers",
    () => story().map((fact) => (fact.fact === "leased" ? { ...fact, lease: 2 } : fact)),
  ],
  [
    "states",
    () =>
      story().flatMap((fact): Fact[] =>
        fact.fact === "leased" ? [fact, { ...fact, lease: 2 }] : [fact],
      ),
  ],
  ["delays", () => story().map((fact) => (fact.fact === "due" ? { ...fact, at: 101 } : fact))],
  ["time", () => story().map((fact) => (fact.fact === "due" ? { ...fact, at: 1 } : fact))],
  ["ids", () => story().flatMap((fact): Fact[] => (fact.fact === "job" ? [fact, fact] : [fact]))],
];

test("the facts of a healthy engine break no rule", () => {
  follow(story());
  follow(story([1, 1]));
});

for (const [rule, change] of CHANGES) {
  test(`facts that break a rule are seen: ${rule}`, () => {
    assert.throws(
      () => follow(change()),
      (error) => error instanceof Broken && error.rule === rule,
    );
  });
}
