import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Drive } from "./drive.ts";
import { LaneShares, Lead } from "./shares.ts";

const weight = fc.oneof(
  fc.constantFrom(1, 2, 5, 100),
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 1000 }),
);

interface LanePlan {
  weight: number;
  costs: readonly number[];
}

const unitLane: fc.Arbitrary<LanePlan> = fc.record({ weight, costs: fc.constant([1]) });
const costlyLane: fc.Arbitrary<LanePlan> = fc.record({
  weight,
  costs: fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 60 })), {
    minLength: 1,
    maxLength: 5,
  }),
});

/** Backlogged lanes from a common start: after every dispatch, `check`. */
function backlogged(
  plans: readonly LanePlan[],
  count: number,
  check: (shares: LaneShares) => void,
): void {
  const drive = Drive.on("q");
  const shares = new LaneShares();
  const added = plans.map(() => 0);
  const refill = (i: number): void => {
    const plan = plans[i]!;
    const cost = plan.costs[added[i]! % plan.costs.length]!;
    added[i]!++;
    drive.add("q", String(i), { weight: plan.weight, cost });
  };
  plans.forEach((plan, i) => {
    shares.watch(String(i), plan.weight, Math.max(...plan.costs));
    refill(i);
    refill(i);
  });
  drive.run(count, ({ mark }) => {
    shares.serve(mark.lane, mark.cost);
    refill(Number(mark.lane));
    check(shares);
  });
}

for (const weights of [
  [1, 2, 5],
  [1, 100],
]) {
  test(`lanes of weights ${weights.join(":")} are within one turn on every prefix`, () => {
    const plans = weights.map((each) => ({ weight: each, costs: [1] }));
    backlogged(plans, 2000, (shares) => assert.ok(shares.excess() <= 0));
  });
}

test("lanes backlogged from a common start are within one turn on every prefix", () => {
  fc.assert(
    fc.property(fc.array(unitLane, { minLength: 2, maxLength: 20 }), (plans) => {
      backlogged(plans, 400, (shares) => assert.ok(shares.excess() <= 0));
    }),
    { numRuns: 30 },
  );
});

test("a thousand lanes are within one turn on every prefix", () => {
  const plans = Array.from({ length: 1000 }, (_, i) => ({ weight: [1, 2, 5][i % 3]!, costs: [1] }));
  let count = 0;
  backlogged(plans, 6000, (shares) => {
    if (count++ % 7 === 0) assert.ok(shares.excess() <= 0);
  });
});

// A round serves a lane until its turn is used up: its last job may overdraw by its cost less one.
test("with costs shares differ by at most 1 + the largest cost ÷ weight, less 1 ÷ weight", () => {
  fc.assert(
    fc.property(fc.array(costlyLane, { minLength: 2, maxLength: 10 }), (plans) => {
      backlogged(plans, 300, (shares) => assert.ok(shares.excess() <= 0));
    }),
    { numRuns: 30 },
  );
});

/** Lanes that come and go; watches every pair while both are backlogged. */
class Comings {
  readonly drive = new Drive();
  readonly #plans: readonly LanePlan[];
  readonly #waiting: number[];
  readonly #added: number[];
  readonly #leads = new Map<string, Lead>();

  constructor(plans: readonly LanePlan[]) {
    this.#plans = plans;
    this.#waiting = plans.map(() => 0);
    this.#added = plans.map(() => 0);
    this.drive.open("q");
  }

  add(lane: number, jobs: number): void {
    const plan = this.#plans[lane]!;
    for (let i = 0; i < jobs; i++) {
      const cost = plan.costs[this.#added[lane]!++ % plan.costs.length]!;
      this.drive.add("q", String(lane), { weight: plan.weight, cost });
    }
    if (this.#waiting[lane] === 0) this.#watch(lane);
    this.#waiting[lane]! += jobs;
  }

  #watch(lane: number): void {
    this.#plans.forEach((_, other) => {
      if (other === lane || this.#waiting[other] === 0) return;
      this.#leads.set(`${lane}>${other}`, new Lead());
      this.#leads.set(`${other}>${lane}`, new Lead());
    });
  }

  dispatch(): void {
    const taken = this.drive.run(1)[0];
    if (taken === undefined) return;
    const lane = Number(taken.mark.lane);
    const share = taken.mark.cost / taken.mark.weight;
    this.#plans.forEach((_, other) => {
      if (other === lane || this.#waiting[other] === 0) return;
      const ahead = this.#leads.get(`${lane}>${other}`)!;
      ahead.gain(share);
      this.#leads.get(`${other}>${lane}`)!.gain(-share);
      assert.ok(ahead.most <= this.#turn(lane) + this.#turn(other), `${lane} over ${other}`);
    });
    this.#waiting[lane]!--;
  }

  #turn(lane: number): number {
    const plan = this.#plans[lane]!;
    return 1 + (Math.max(...plan.costs) - 1) / plan.weight;
  }
}

const comings = fc.array(
  fc.record({
    lane: fc.nat(5),
    jobs: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 80 })),
    dispatches: fc.nat(40),
  }),
  { minLength: 5, maxLength: 40, size: "max" },
);

for (const [what, lane] of [
  ["two lanes differ by two turns at most", unitLane],
  ["with costs two lanes differ by the sum of their turns and overdrafts", costlyLane],
] as const) {
  test(`over any interval in which both stay backlogged, ${what}`, () => {
    fc.assert(
      fc.property(
        fc.array(lane, { minLength: 6, maxLength: 6 }),
        fc.boolean(),
        comings,
        (plans, hasStayer, moves) => {
          const world = new Comings(plans);
          if (hasStayer) world.add(0, 1000);
          for (const move of moves) {
            world.add(move.lane, move.jobs);
            for (let i = 0; i < move.dispatches; i++) world.dispatch();
          }
        },
      ),
      { numRuns: 80 },
    );
  });
}
