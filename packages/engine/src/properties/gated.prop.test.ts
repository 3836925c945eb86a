import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { each } from "../testing/test-engine.ts";
import { Drive, type Taken } from "./drive.ts";
import { Lead } from "./shares.ts";

const FOREVER = 3_600_000;

interface Plan {
  lane: number;
  weight: number;
  gated: boolean;
  dispatches: number;
}

const plans = fc.array(
  fc.record({
    lane: fc.nat(4),
    weight: fc.integer({ min: 1, max: 4 }),
    gated: fc.boolean(),
    dispatches: fc.nat(2),
  }),
  { minLength: 10, maxLength: 80, size: "max" },
);

/** Plays a plan with or without its gated jobs; answers the order of the others. */
function orderOfOthers(plan: readonly Plan[], withGated: boolean): string[] {
  const drive = Drive.on("q");
  drive.engine.cooldown("shut", FOREVER, "down", drive.now);
  const order: Taken[] = [];
  plan.forEach(({ lane, gated, dispatches }, i) => {
    const spec = { weight: 1 + (lane % 3), ...(gated ? { gates: ["shut"] } : {}) };
    if (!gated || withGated) {
      drive.engine.add("q", { ...spec, fairnessKey: `${lane}`, body: i }, drive.now);
    }
    for (let d = 0; d < dispatches; d++) {
      const taken = drive.next();
      if (taken !== undefined) order.push(taken);
    }
  });
  order.push(...drive.dispatchNow());
  return order.map(({ body }) => String(body));
}

test("gated jobs change nothing in the order of the others, of their lane or of another", () => {
  fc.assert(
    fc.property(plans, (plan) => {
      assert.deepEqual(orderOfOthers(plan, true), orderOfOthers(plan, false));
    }),
    { numRuns: 150 },
  );
});

test("a gated job loses no attempt, no delivery and no place in its strand", () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const drive = Drive.on("q");
      drive.engine.cooldown("shut", 5000, "down", drive.now);
      const gated: number[] = [];
      plan.forEach(({ lane, gated: isGated, dispatches }) => {
        const id = drive.add("q", `${lane}`, isGated ? { gates: ["shut"] } : {});
        if (isGated) gated.push(id);
        drive.run(0);
        for (let d = 0; d < dispatches; d++) drive.next();
      });
      drive.dispatchNow();
      for (const id of gated) {
        const { state, attempt, lease } = drive.engine.queries.job(id)!;
        assert.deepEqual({ state, attempt, lease }, { state: "waiting", attempt: 0, lease: 0 });
      }
      drive.now += 5000;
      const after = drive.dispatchNow();
      assert.equal(after.length, gated.length);
      const last = new Map<string, number>();
      for (const { id, attempt, lease, mark } of after) {
        assert.deepEqual({ attempt, lease }, { attempt: 0, lease: 1 });
        assert.ok(id > (last.get(mark.lane) ?? 0), "in the order of their strand");
        last.set(mark.lane, id);
      }
    }),
    { numRuns: 100 },
  );
});

test("a lane that was gated gets its share at once when its gate opens", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(200),
      fc.nat(200),
      (weights, weight, before, during) => {
        const drive = Drive.on("q");
        weights.forEach((each, i) => void drive.addMany("q", `${i}`, 700, { weight: each }));
        drive.addMany("q", "gated", 700, { weight, gates: ["g"] });
        drive.run(before);
        drive.engine.cooldown("g", 1000, "429", drive.now);
        for (const { mark } of drive.run(during)) assert.notEqual(mark.lane, "gated");
        drive.now += 1000;
        const after = drive.run(200);
        const first = after.findIndex(({ mark }) => mark.lane === "gated");
        // If the lane used up its turn before the gate shut, it waits only for the others' turns.
        const turns = weights.reduce((sum, each) => sum + each, 0);
        assert.ok(first !== -1 && first <= 2 * turns + 1, `after ${first}`);
        const leads = weights.map(() => new Lead());
        for (const { mark } of after) {
          leads.forEach((lead, i) => {
            if (mark.lane === "gated") lead.gain(-1 / mark.weight);
            else if (mark.lane === String(i)) lead.gain(1 / mark.weight);
            assert.ok(lead.most <= 2, "the others lead by two turns at most");
          });
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("a gate that shuts and opens again and again takes no turn from its lane", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.record({ shut: fc.nat(6), open: fc.integer({ min: 1, max: 20 }) }), {
        minLength: 5,
        maxLength: 30,
        size: "max",
      }),
      (weight, other, phases) => {
        const drive = Drive.on("q");
        drive.addMany("q", "other", 900, { weight: other });
        drive.addMany("q", "gated", 900, { weight, gates: ["g"] });
        for (const { shut, open } of phases) {
          drive.engine.cooldown("g", 10, "429", drive.now);
          drive.run(shut, ({ mark }) => assert.equal(mark.lane, "other"));
          drive.now += 10;
          const lead = new Lead();
          drive.run(open, ({ mark }) => {
            lead.gain(mark.lane === "other" ? 1 / other : -1 / weight);
            assert.ok(lead.most <= 2);
          });
        }
      },
    ),
    { numRuns: 60 },
  );
});

for (const where of ["its own lane", "other lanes"]) {
  test(`jobs without a gate and with an open gate pass 100,000 gated ones of ${where}`, () => {
    const drive = Drive.on("q");
    drive.engine.setGate("shut", { rate: 0 }, drive.now);
    drive.engine.setGate("open", { rate: 100 }, drive.now);
    for (let i = 0; i < 100_000; i++) {
      drive.add("q", where === "its own lane" ? "mine" : `lane-${i}`, { gates: ["shut"] });
    }
    const free = drive.add("q", "mine");
    const open = drive.add("q", "mine", { gates: ["open"] });
    const both = drive.add("q", "mine", { gates: ["open", "shut"] });
    assert.deepEqual(each(drive.dispatchNow(), "id"), [free, open]);
    assert.equal(drive.engine.queries.job(both)?.state, "waiting");
  });
}

const KEYS = ["a", "b", "c", "d"];

interface Waiting {
  readonly id: number;
  readonly gates: readonly string[];
}

/**
 * Adds jobs of one lane while all gates are shut, then opens some of the gates again and again;
 * calls `each` with the jobs that may go, in the order of their age, and the ids in the order in
 * which they went.
 */
function openInTurn(
  jobs: readonly (readonly string[])[],
  openings: readonly (readonly string[])[],
  each: (expected: readonly Waiting[], ids: readonly number[]) => void,
): void {
  const drive = Drive.on("q");
  for (const key of KEYS) drive.engine.setGate(key, { rate: 0 }, drive.now);
  const waiting = jobs.map((gates) => ({ gates, id: drive.add("q", "lane", { gates }) }));
  for (const open of [[], ...openings]) {
    for (const key of KEYS) {
      const isOpen = open.includes(key);
      drive.engine.setGate(key, isOpen ? { concurrency: 1000 } : { rate: 0 }, drive.now);
    }
    const expected = waiting.filter(({ gates }) => gates.every((key) => open.includes(key)));
    each(
      expected,
      drive.dispatchNow().map(({ id }) => id),
    );
    for (const job of expected) waiting.splice(waiting.indexOf(job), 1);
  }
}

const openings = fc.array(fc.subarray(KEYS), { minLength: 1, maxLength: 8 });
const manyOf = (gates: fc.Arbitrary<string[]>): fc.Arbitrary<string[][]> =>
  fc.array(gates, { minLength: 1, maxLength: 60, size: "max" });

test("among a lane's open strands the oldest head goes first", () => {
  // Jobs with several gates that share one of them go in the order of their claims: see below.
  const sets: string[][] = [[], ["a"], ["b"], ["c"], ["d"], ["a", "b"], ["c", "d"]];
  fc.assert(
    fc.property(manyOf(fc.constantFrom(...sets)), openings, (jobs, opened) => {
      openInTurn(jobs, opened, (expected, ids) => {
        assert.deepEqual(
          ids,
          expected.map(({ id }) => id),
        );
      });
    }),
    { numRuns: 150 },
  );
});

/**
 * A job with several gates that had to wait is ready only when its claim is the first at each of
 * its gates, and claims are ordered by the time at which they were made, not by the age of their
 * jobs. The gates open one after another here. So a younger job may have had its turn at all its
 * gates while an older one, with which it shares a gate, still waits for another gate. Then the
 * younger one goes first, and jobs that are ready go before the older one. All of them go, those of
 * one strand in its order, and those with one gate or none in theirs.
 */
test("all open strands go: those with several gates in common by the order of their claims", () => {
  fc.assert(
    fc.property(manyOf(fc.subarray(KEYS)), openings, (jobs, opened) => {
      openInTurn(jobs, opened, (expected, ids) => {
        const strand = ({ gates }: Waiting): string => (gates.length < 2 ? "" : gates.join());
        const went = ids.map((id) => expected.find((job) => job.id === id));
        assert.equal(ids.length, expected.length);
        for (const name of new Set(expected.map(strand))) {
          assert.deepEqual(
            went.filter((job) => job !== undefined && strand(job) === name),
            expected.filter((job) => strand(job) === name),
          );
        }
      });
    }),
    { numRuns: 150 },
  );
});
