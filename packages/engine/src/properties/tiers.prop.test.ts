import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Drive } from "./drive.ts";
import { LaneShares } from "./shares.ts";

const arrivals = fc.array(
  fc.record({
    tier: fc.nat(3),
    lane: fc.nat(3),
    jobs: fc.integer({ min: 1, max: 8 }),
    dispatches: fc.nat(6),
  }),
  { minLength: 5, maxLength: 40, size: "max" },
);

for (const where of ["without a gate", "behind a gate"]) {
  test(`no job goes out before a waiting one of a more urgent tier, ${where}`, () => {
    fc.assert(
      fc.property(arrivals, (list) => {
        const drive = Drive.on("q");
        const gates = where === "behind a gate" ? ["g"] : [];
        drive.engine.setGate("g", { rate: 10, burst: 1 }, drive.now);
        const waiting = [0, 0, 0, 0];
        for (const { tier, lane, jobs, dispatches } of list) {
          drive.addMany("q", `${lane}`, jobs, { priority: tier, gates });
          waiting[tier]! += jobs;
          drive.run(dispatches, (taken) => {
            const urgent = waiting.findIndex((count) => count > 0);
            assert.equal(taken.tier, urgent);
            waiting[urgent]!--;
          });
        }
      }),
      { numRuns: 40 },
    );
  });
}

test("an urgent job that costs more is not starved by cheap ones of a lower tier", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 6 }),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (cost, more, lanes, isOtherQueue) => {
        const drive = Drive.on("q");
        drive.open("other");
        drive.engine.setGate("g", { rate: 10, burst: cost + more }, drive.now);
        for (let lane = 0; lane < lanes; lane++) {
          drive.addMany("q", `${lane}`, 200, { priority: 2, gates: ["g"] });
        }
        drive.run(cost + more + 3);
        const asked = drive.now;
        const queue = isOtherQueue ? "other" : "q";
        const id = drive.add(queue, "urgent", { priority: 0, cost, gates: ["g"] });
        const [first] = drive.run(1);
        assert.equal(first?.id, id, "no one slips past it");
        assert.ok(drive.now - asked <= cost * 100, "as soon as its tokens are there");
      },
    ),
    { numRuns: 40 },
  );
});

test("an urgent job at a gate whose queue has no free worker does not keep others waiting", () => {
  const drive = Drive.on("q");
  drive.open("idle");
  drive.engine.want("idle", "w", 0, drive.now);
  drive.engine.setGate("g", { rate: 10, burst: 1 }, drive.now);
  drive.addMany("idle", "x", 5, { priority: 0, gates: ["g"] });
  drive.addMany("q", "y", 30, { priority: 3, gates: ["g"] });
  const start = drive.now;
  const taken = drive.run(20);
  assert.equal(taken.length, 20);
  assert.equal(drive.now - start, 1900, "at the rate of the gate");
  drive.engine.want("idle", "w", 10, drive.now);
  const next = drive.run(5).map(({ queue }) => queue);
  assert.deepEqual(next, ["idle", "idle", "idle", "idle", "idle"]);
});

const limits = [
  { name: "a rate", config: { rate: 20, burst: 1 } },
  { name: "a concurrency", config: { concurrency: 1 } },
];

for (const { name, config } of limits) {
  test(`a queue without a free worker holds no permit of a shared gate with ${name}`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ slots: fc.nat(2), dispatches: fc.nat(5) }), {
          minLength: 5,
          maxLength: 30,
          size: "max",
        }),
        (turns) => {
          const drive = new Drive();
          drive.open("free");
          drive.open("busy", { weight: 5 });
          drive.engine.setGate("g", config, drive.now);
          drive.addMany("free", "x", 300, { gates: ["g"] });
          drive.addMany("busy", "x", 300, { gates: ["g"] });
          for (const { slots, dispatches } of turns) {
            drive.engine.want("busy", "w", slots, drive.now);
            const before = drive.now;
            const taken = drive.run(dispatches);
            assert.equal(taken.length, dispatches, "the gate is never left unused");
            assert.ok(drive.now - before <= 50 * dispatches, "nor late");
            const busy = taken.filter(({ queue }) => queue === "busy").length;
            assert.ok(busy <= slots);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
}

for (const where of ["without a gate", "with an open gate"]) {
  test(`weighted tiers share by their weights on every prefix, ${where}`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (weights, lanes) => {
          const drive = Drive.on("q", { tiers: weights.length, tierOrder: weights });
          drive.engine.setGate("g", { concurrency: 1_000_000 }, drive.now);
          const gates = where === "with an open gate" ? ["g"] : [];
          const shares = new LaneShares();
          weights.forEach((weight, tier) => {
            shares.watch(`${tier}`, weight);
            for (let lane = 0; lane < lanes; lane++) {
              drive.addMany("q", `${lane}`, 200, { priority: tier, gates });
            }
          });
          drive.run(190, ({ tier }) => {
            shares.serve(`${tier}`);
            assert.ok(shares.excess() <= 0);
          });
        },
      ),
      { numRuns: 40 },
    );
  });
}

test("promoteAfter bounds the wait of the least urgent tier under a flood of urgent jobs", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.integer({ min: 50, max: 400 }),
      fc.boolean(),
      (tiers, promoteAfterMs, isGated) => {
        const drive = Drive.on("q", { tiers, promoteAfterMs });
        drive.engine.want("q", "w", 0, drive.now);
        drive.engine.setGate("g", { concurrency: 1 }, drive.now);
        const gates = isGated ? ["g"] : [];
        const start = drive.now;
        const id = drive.add("q", "late", { priority: tiers - 1, gates });
        let doneAt = 0;
        // One worker, 10 ms a job, and always two urgent jobs more than it can do.
        drive.addMany("q", "flood", 2, { priority: 0, gates });
        for (; doneAt === 0 && drive.now < start + 20_000; drive.now += 10) {
          drive.add("q", "flood", { priority: 0, gates });
          drive.engine.want("q", "w", 1, drive.now);
          for (const taken of drive.dispatchNow()) {
            if (taken.id === id) doneAt = drive.now;
            drive.ack(taken);
          }
        }
        const bound = (tiers - 1) * (promoteAfterMs + 10) + 30;
        assert.ok(
          doneAt !== 0 && doneAt - start <= bound,
          `after ${doneAt - start} of ${bound} ms`,
        );
      },
    ),
    { numRuns: 30 },
  );
});
