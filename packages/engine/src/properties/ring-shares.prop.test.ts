import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RingWorld } from "./ring-world.ts";

/**
 * Two members that are both active, however they came: over any such time they are at most one turn
 * each apart, in cost ÷ weight. A turn is 1, and what its last job may cost beyond.
 */
class Watched {
  readonly world = new RingWorld();
  readonly #members: { node: number; weight: number; turn: number; served: number }[];
  readonly #active = new Set<number>();
  /** The least and the most lead of i over j since both are active, by `i,j`. */
  readonly #leads = new Map<string, { least: number; most: number }>();

  constructor(weights: readonly number[]) {
    this.#members = weights.map((weight, i) => {
      return { node: this.world.member(String(i), weight), weight, turn: 1, served: 0 };
    });
  }

  toggle(i: number): void {
    if (this.#active.delete(i)) {
      this.world.rings.deactivate(this.#members[i]!.node);
      for (const j of this.#active) this.#leads.delete(pair(i, j));
      return;
    }
    this.world.rings.activate(this.#members[i]!.node);
    for (const j of this.#active) this.#begin(i, j);
    this.#active.add(i);
  }

  /** What was measured with the old weight does not count any more. */
  weigh(i: number, weight: number): void {
    const member = this.#members[i]!;
    if (member.weight === weight) return;
    member.weight = weight;
    this.world.rings.setWeight(member.node, weight);
    for (const j of this.#active) if (this.#active.has(i) && i !== j) this.#begin(i, j);
  }

  /** Serves one job to the next member; it may be the member's last. */
  serve(cost: number, isLast: boolean): void {
    const name = this.world.serve(1, cost);
    if (name === "") return;
    const i = Number(name);
    const member = this.#members[i]!;
    member.served += cost / member.weight;
    member.turn = Math.max(member.turn, 1 + (cost - 1) / member.weight);
    for (const j of this.#active) if (j !== i) this.#check(Math.min(i, j), Math.max(i, j));
    if (isLast) this.toggle(i);
  }

  #begin(i: number, j: number): void {
    const lead = this.#lead(Math.min(i, j), Math.max(i, j));
    this.#leads.set(pair(i, j), { least: lead, most: lead });
  }

  #lead(i: number, j: number): number {
    return this.#members[i]!.served - this.#members[j]!.served;
  }

  #check(i: number, j: number): void {
    const lead = this.#lead(i, j);
    const seen = this.#leads.get(pair(i, j))!;
    seen.least = Math.min(seen.least, lead);
    seen.most = Math.max(seen.most, lead);
    const bound = this.#members[i]!.turn + this.#members[j]!.turn + 1e-9;
    assert.ok(seen.most - seen.least <= bound, `${i} and ${j}: ${seen.most - seen.least}`);
  }
}

const pair = (i: number, j: number): string => `${Math.min(i, j)},${Math.max(i, j)}`;

const stepOf = (costMax: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ toggle: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ weigh: fc.nat(5), to: fc.integer({ min: 1, max: 6 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({ cost: fc.integer({ min: 1, max: costMax }), isLast: fc.boolean() }),
    },
  );
const steps = fc
  .constantFrom(1, 6)
  .chain((costMax) => fc.array(stepOf(costMax), { minLength: 5, maxLength: 80, size: "max" }));

test("members that stay are within a turn each of one another while others come and go", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 6 }),
      steps,
      (weights, list) => {
        const watched = new Watched(weights);
        for (const each of list) {
          if ("cost" in each) watched.serve(each.cost, each.isLast);
          else if ("weigh" in each) watched.weigh(each.weigh % weights.length, each.to);
          else watched.toggle(each.toggle % weights.length);
        }
      },
    ),
    { numRuns: 3000 },
  );
});
