import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rebuilt } from "../testing/test-engine.ts";
import { Drive } from "./drive.ts";
import { LaneShares } from "./shares.ts";

const lanes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 6 });

for (const where of ["in the ring", "behind a gate"]) {
  for (const what of ["its facts", "a snapshot"]) {
    test(`leads of lanes survive a rebuild from ${what}, ${where}: two turns at most`, () => {
      fc.assert(
        fc.property(lanes, fc.nat(80), fc.boolean(), (weights, before, hasPaths) => {
          const first = new Drive({ tells: true });
          first.open("q");
          first.engine.setGate("g", { rate: 100, burst: 1 }, first.now);
          const gates = where === "behind a gate" ? ["g"] : [];
          const shares = new LaneShares();
          weights.forEach((weight, i) => {
            const fairnessKey = hasPaths ? ["tenant", `${i}`] : `${i}`;
            first.addMany("q", `${i}`, 300, { weight, fairnessKey, gates });
            shares.watch(`${i}`, weight);
          });
          first.run(before, ({ mark }) => shares.serve(mark.lane));
          assert.ok(shares.excess() <= 0);
          const facts = what === "its facts" ? first.facts : first.engine.snapshot();
          const second = new Drive({ engine: rebuilt(facts) });
          second.now = first.now;
          second.engine.want("q", "w", 1_000_000, second.now);
          second.run(150, ({ mark }) => {
            shares.serve(mark.lane);
            assert.ok(shares.excess(2) <= 0);
          });
        }),
        { numRuns: 25 },
      );
    });
  }
}

test("a restart after every few jobs lets no lane gain more than two turns", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 25, size: "max" }),
      (weights, runs) => {
        let drive = new Drive();
        drive.open("q");
        const shares = new LaneShares();
        weights.forEach((weight, i) => {
          drive.addMany("q", `${i}`, 150, { weight });
          shares.watch(`${i}`, weight);
        });
        for (const count of runs) {
          drive.run(count, ({ mark }) => {
            shares.serve(mark.lane);
            assert.ok(shares.excess(2) <= 0);
          });
          const again = new Drive({ engine: rebuilt(drive.engine.snapshot()) });
          again.now = drive.now;
          again.engine.want("q", "w", 1_000_000, again.now);
          drive = again;
        }
      },
    ),
    { numRuns: 15 },
  );
});
