import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { KeyTable } from "./keys.ts";

const text = fc.oneof(
  fc.constantFrom("", "a", "b", "\0", "é", "鍵", "\ud800"),
  fc.string({ unit: "binary", maxLength: 40 }),
  // Units of any kind, so that halves of surrogate pairs occur too.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80 })
    .map((units) => String.fromCharCode(...units)),
);

const step = fc.record({
  remove: fc.boolean(),
  prefix: fc.oneof(fc.constantFrom(0, 1, -1), fc.integer()),
  text,
  pick: fc.nat(),
});

test("the table agrees with a map after every step", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.maxSafeNat(), (steps, seed) => {
      const keys = new KeyTable(seed);
      const model = new Map<string, number>();
      for (const { remove, prefix, text, pick } of steps) {
        const name = `${prefix}:${text}`;
        assert.equal(keys.find(prefix, text), model.get(name) ?? 0);
        if (remove && model.size > 0) {
          const [gone, entry] = [...model][pick % model.size]!;
          assert.equal(`${keys.prefixOf(entry)}:${keys.keyOf(entry)}`, gone);
          keys.remove(entry);
          model.delete(gone);
        } else {
          const entry = keys.intern(prefix, text);
          const known = model.get(name);
          if (known === undefined) assert.ok(![...model.values()].includes(entry));
          else assert.equal(entry, known);
          model.set(name, entry);
        }
        assert.equal(keys.size, model.size);
      }
      for (const [name, entry] of model) {
        assert.equal(`${keys.prefixOf(entry)}:${keys.keyOf(entry)}`, name);
      }
    }),
    { numRuns: 200 },
  );
});
