import assert from "node:assert/strict";
import { test } from "node:test";
import type { Broker, LeasedJob, Outcome } from "@sluice/protocol";
import fc from "fast-check";
import { HELD_FIRST_LOOK } from "../limits.ts";
import { HeldLeases } from "./held-leases.ts";

const OK: Outcome<true> = { ok: true };
const LOST: Outcome<true> = { error: { code: "LEASE_LOST", message: "" } };
const BUSY: Outcome<true> = { error: { code: "RATE_LIMITED", message: "" } };

function jobOf(lease: string, expiresAt = 1e9, expiresIn = 1e9): LeasedJob {
  return { lease, expiresAt, expiresIn } as LeasedJob;
}

async function returnedBy(held: HeldLeases): Promise<Set<string>> {
  const returned = new Set<string>();
  const giveBack = async (leases: readonly string[]): Promise<Outcome<true>[]> => {
    for (const lease of leases) {
      assert.ok(!returned.has(lease), `${lease} is given back once`);
      returned.add(lease);
    }
    return leases.map(() => OK);
  };
  await held.giveBack({ giveBack } as unknown as Broker);
  return returned;
}

test("gives back what was delivered and has not ended, in whatever order jobs end", async () => {
  const step = fc.oneof(
    fc.record({ take: fc.integer({ min: 1, max: 5 }) }),
    // The front of the line, any other lease, or one that was never delivered here.
    fc.record({
      end: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }),
      as: fc.constantFrom(OK, LOST, BUSY),
    }),
    fc.record({ extend: fc.integer({ min: 0, max: 40 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const held = new HeldLeases();
      const model: string[] = [];
      let count = 0;
      for (const one of steps) {
        if ("take" in one) {
          const leases = Array.from({ length: one.take }, () => `e${++count}.1.seal`);
          held.take(leases.map((lease) => jobOf(lease)));
          model.push(...leases);
        } else if ("end" in one) {
          const leases = one.end.map((place) => model[place] ?? `z${place}.1.seal`);
          const items = leases.map((lease, i) => (i % 2 === 0 ? lease : { lease }));
          held.ended(
            items,
            leases.map(() => one.as),
          );
          if (one.as === BUSY) continue;
          for (const lease of leases) {
            if (model.includes(lease)) model.splice(model.indexOf(lease), 1);
          }
        } else {
          held.extended([{ lease: model[one.extend] ?? "z" }], [{ ok: 2e9 }]);
        }
        assert.equal(held.size, model.length);
      }
      assert.deepEqual(await returnedBy(held), new Set(model));
      assert.equal(held.size, 0);
    }),
  );
});

test("forgets leases that ran out when there are very many, and keeps extended ones", async () => {
  const held = new HeldLeases();
  const old = Array.from({ length: HELD_FIRST_LOOK }, (_, i) => jobOf(`old${i}`, 1000, 1000));
  held.take(old);
  held.extended([{ lease: "old7" }], [{ ok: 5000 }]);
  held.take([jobOf("new", 4000, 2000)]);
  assert.deepEqual(await returnedBy(held), new Set(["old7", "new"]));
});

test("knows very many leases that end the newest first, or that were never held here", async () => {
  const held = new HeldLeases();
  const leases = Array.from({ length: 3000 }, (_, i) => `e${i}.1.seal`);
  held.take(leases.map((lease) => jobOf(lease)));
  const foreign = Array.from({ length: 500 }, (_, i) => `z${i}.1.seal`);
  held.ended(
    foreign,
    foreign.map(() => OK),
  );
  assert.equal(held.size, leases.length);
  const kept = leases.splice(700, 1);
  held.ended(
    leases.toReversed(),
    leases.map(() => OK),
  );
  assert.deepEqual(await returnedBy(held), new Set(kept));
});
