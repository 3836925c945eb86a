import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sizesFor } from "./sizes.ts";

const tiers = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 16 });
const loads = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 16, maxLength: 16 });

test("whatever the load, the total stays, and each tier is between half and twice its size", () => {
  fc.assert(
    fc.property(tiers, loads, (capacities, load) => {
      const configured = capacities.map((capacity, i) => ({ name: `t${i}`, capacity }));
      const sizes = sizesFor(configured, load);
      const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      assert.equal(total(sizes), total(capacities));
      sizes.forEach((size, i) => {
        assert.ok(Number.isInteger(size));
        assert.ok(size >= Math.ceil(capacities[i]! / 2) && size <= 2 * capacities[i]!);
      });
    }),
  );
});

test("capacity moves to where jobs wait, and goes back when they are gone", () => {
  const configured = [
    { name: "fast", capacity: 1000 },
    { name: "slow", capacity: 5000 },
  ];
  assert.deepEqual(sizesFor(configured, [0, 0]), [1000, 5000]);
  const [fast, slow] = sizesFor(configured, [5000, 0]);
  assert.ok(fast! > 1000 && fast! <= 2000);
  assert.equal(fast! + slow!, 6000);
});
