// The reference ring must itself keep the promises of the scheduler, or it proves nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../random.ts";
import { type Member, Ring } from "./ring.ts";

interface Lane extends Member {
  readonly name: string;
  served: number;
}

const lane = (name: string, weight: number): Lane => ({
  name,
  weight,
  round: 0,
  rest: 0,
  era: -1,
  served: 0,
});

// S of two lanes, apart, times both weights: whole numbers.
const apart = (a: Lane, b: Lane) => Math.abs(a.served * b.weight - b.served * a.weight);

test("backlogged lanes from a common start are at most one turn apart on every prefix", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = new Random(seed);
    const ring = new Ring<Lane>();
    const lanes = Array.from({ length: random.between(2, 6) }, (_, i) =>
      lane(`lane ${i}`, random.between(1, 9)),
    );
    for (const one of lanes) ring.activate(one);
    for (let step = 0; step < 200; step++) {
      const next = ring.next()!;
      ring.serve(next, 1, true);
      next.served += 1;
      for (const other of lanes) assert.ok(apart(next, other) <= next.weight * other.weight);
    }
  }
});

test("a sole newcomer waits for one dispatch at most", () => {
  const ring = new Ring<Lane>();
  const old = Array.from({ length: 20 }, (_, i) => lane(`old ${i}`, 1));
  for (const one of old) ring.activate(one);
  for (let step = 0; step < 50; step++) ring.serve(ring.next()!, 1, true);
  const newcomer = lane("newcomer", 1);
  ring.activate(newcomer);
  const first = ring.next()!;
  ring.serve(first, 1, true);
  assert.ok(first === newcomer || ring.next() === newcomer);
});

test("over any time in which two lanes stay, they are at most a turn each apart", () => {
  for (let seed = 0; seed < 600; seed++) {
    const random = new Random(seed);
    // A turn may end with a job that costs more than is left of it.
    const costMax = random.pick([1, 1, 3, 8]);
    const ring = new Ring<Lane>();
    const staying = [lane("a", random.between(1, 9)), lane("b", random.between(1, 9))] as const;
    const coming = Array.from({ length: 4 }, (_, i) => lane(`c ${i}`, random.between(1, 9)));
    const active = new Set<Lane>();
    for (const one of [...staying, ...coming]) {
      ring.activate(one);
      active.add(one);
    }
    const from = random.between(0, 50);
    for (let step = 0; step < 200; step++) {
      if (step === from) for (const one of staying) one.served = 0;
      const guest = random.pick(coming);
      if (!active.has(guest)) {
        ring.activate(guest);
        active.add(guest);
      }
      const next = ring.next()!;
      const stays = staying.includes(next as never) || random.chance(0.5);
      if (!stays) active.delete(next);
      const cost = random.between(1, costMax);
      ring.serve(next, cost, stays);
      next.served += cost;
      const [a, b] = staying;
      const turns = 2 * a.weight * b.weight + (costMax - 1) * (a.weight + b.weight);
      if (step >= from) assert.ok(apart(a, b) <= turns);
    }
  }
});

test("a ring that no one is in forgets who had what", () => {
  const ring = new Ring<Lane>();
  const [a, b] = [lane("a", 1), lane("b", 1)];
  ring.activate(a);
  for (let step = 0; step < 10; step++) ring.serve(ring.next()!, 1, step < 9);
  assert.ok(ring.isEmpty);
  ring.activate(a);
  ring.activate(b);
  assert.equal(ring.next(), a);
});
