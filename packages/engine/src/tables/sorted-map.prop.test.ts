import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SortedMap } from "./sorted-map.ts";

const key = fc.oneof(
  fc.nat(3000).map((n) => `${n}`),
  fc.string({ maxLength: 3 }),
);
const step = fc.record({ key, isDelete: fc.boolean() });

test("a sorted map answers like a plain one, in order, after every step", () => {
  fc.assert(
    fc.property(
      fc.nat(2000),
      fc.constantFrom(1, 7, -1),
      fc.array(step, { maxLength: 60 }),
      key,
      (filled, stride, steps, first) => {
        const plain = new Map<string, number>();
        const sorted = new SortedMap<number>();
        const set = (name: string, value: number): void => {
          plain.set(name, value);
          sorted.set(name, value);
        };
        for (let i = 0; i < filled; i++) set(`${(1e6 + i * stride) % 2003}`, i);
        steps.forEach(({ key: name, isDelete }, i) => {
          if (isDelete) assert.equal(sorted.delete(name), plain.delete(name));
          else set(name, i);
          assert.equal(sorted.get(name), plain.get(name));
          assert.equal(sorted.size, plain.size);
        });
        const inOrder = [...plain].sort(([a], [b]) => (a < b ? -1 : 1));
        assert.deepEqual([...sorted.from("")], inOrder);
        assert.deepEqual(
          [...sorted.from(first)],
          inOrder.filter(([name]) => name >= first),
        );
        for (const [name] of inOrder) assert.equal(sorted.delete(name), true);
        assert.equal(sorted.size, 0);
        assert.deepEqual([...sorted.from("")], []);
      },
    ),
    { numRuns: 150 },
  );
});
