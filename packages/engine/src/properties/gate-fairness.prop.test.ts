import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Drive } from "./drive.ts";
import { LaneShares, Lead } from "./shares.ts";

/** S in tenths, exact for weights 1, 2 and 5; the least is found without a walk over all. */
class TenthShares {
  readonly #s = new Map<string, number>();
  readonly #counts: number[] = [];
  #least = 0;
  #most = 0;

  watch(lane: string): void {
    this.#s.set(lane, 0);
    this.#counts[0] = (this.#counts[0] ?? 0) + 1;
  }

  serve(lane: string, weight: number): void {
    const before = this.#s.get(lane)!;
    const after = before + 10 / weight;
    this.#s.set(lane, after);
    this.#counts[before]!--;
    this.#counts[after] = (this.#counts[after] ?? 0) + 1;
    this.#most = Math.max(this.#most, after);
    while (!this.#counts[this.#least]) this.#least++;
  }

  get spread(): number {
    return (this.#most - this.#least) / 10;
  }
}

const LANES = 10_000;

for (const burst of [1, 50, undefined]) {
  const title = burst === undefined ? "the default burst" : `burst ${burst}`;
  test(`10,000 lanes at a gate of 100/s with ${title} are within one turn on every prefix`, () => {
    const drive = Drive.on("q");
    drive.engine.setGate("g", { rate: 100, burst }, drive.now);
    const shares = new TenthShares();
    for (let i = 0; i < LANES; i++) {
      const weight = [1, 2, 5][i % 3]!;
      drive.addMany("q", `${i}`, weight + 1, { weight, gates: ["g"] });
      shares.watch(`${i}`);
    }
    const start = drive.now;
    // One whole turn of every lane, and most of what follows: no lane has run dry.
    drive.run(LANES * 2.5, ({ mark }) => {
      shares.serve(mark.lane, mark.weight);
      assert.ok(shares.spread <= 1, `${shares.spread} turns`);
    });
    assert.ok(drive.now - start <= LANES * 25, "at the rate of the gate");
  });
}

const weights = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 2, maxLength: 9 });

interface Limit {
  name: string;
  config: (n: number) => object;
}

const limits: readonly Limit[] = [
  { name: "a rate", config: (n) => ({ rate: 5 + n, burst: 1 + n }) },
  { name: "a concurrency", config: (n) => ({ concurrency: 1 + (n % 5) }) },
  { name: "windows", config: (n) => ({ windows: [{ limit: 1 + n, perMs: 700 }] }) },
  { name: "an interval", config: (n) => ({ interval: { ms: 5 + n, from: "start" } }) },
];

for (const { name, config } of limits) {
  test(`lanes that share ${name} are within one turn on every prefix, from the first on`, () => {
    fc.assert(
      fc.property(weights, fc.nat(60), (each, n) => {
        const drive = Drive.on("q");
        drive.engine.setGate("g", config(n), drive.now);
        const shares = new LaneShares();
        each.forEach((weight, i) => {
          drive.addMany("q", `${i}`, 40 * weight, { weight, gates: ["g"] });
          shares.watch(`${i}`, weight);
        });
        drive.run(30 * each.length, ({ mark }) => {
          shares.serve(mark.lane);
          assert.ok(shares.excess() <= 0);
        });
      }),
      { numRuns: 40 },
    );
  });
}

/** Jobs that come to a gate at some times: lane, weight and how many after how many dispatches. */
const comings = fc.array(
  fc.record({
    lane: fc.nat(5),
    jobs: fc.integer({ min: 1, max: 12 }),
    after: fc.nat(10),
  }),
  { minLength: 5, maxLength: 40, size: "max" },
);

test("a lane that arrives at a gate leads by two turns at most, however it comes and goes", () => {
  fc.assert(
    fc.property(
      comings,
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 6, maxLength: 6 }),
      fc.integer({ min: 1, max: 20 }),
      (moves, laneWeights, burst) => {
        const drive = Drive.on("q");
        drive.engine.setGate("g", { rate: 50, burst }, drive.now);
        drive.addMany("q", "stays", 2000, { weight: 2, gates: ["g"] });
        // The burst goes first: from here on there is a line.
        drive.run(burst + 1);
        const leads = laneWeights.map(() => new Lead());
        const waiting = laneWeights.map(() => 0);
        for (const { lane, jobs, after } of moves) {
          if (waiting[lane] === 0) leads[lane]!.begin();
          waiting[lane]! += jobs;
          drive.addMany("q", `${lane}`, jobs, { weight: laneWeights[lane]!, gates: ["g"] });
          drive.run(after, ({ mark }) => {
            leads.forEach((lead, i) => {
              if (mark.lane === "stays") lead.gainSince(-1 / 2);
              if (mark.lane !== String(i)) return;
              lead.gainSince(1 / mark.weight);
              waiting[i]!--;
            });
            for (const lead of leads) assert.ok(lead.most <= 2, "counted from any of its comings");
          });
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("lanes that wait at a gate together differ by two turns at most over any interval", () => {
  fc.assert(
    fc.property(
      weights,
      fc.integer({ min: 1, max: 6 }),
      fc.nat(100),
      fc.integer({ min: 1, max: 30 }),
      (each, weight, before, burst) => {
        const drive = Drive.on("q");
        drive.engine.setGate("g", { rate: 50, burst }, drive.now);
        each.forEach((w, i) => void drive.addMany("q", `${i}`, 400, { weight: w, gates: ["g"] }));
        drive.run(burst + before);
        drive.addMany("q", "late", 400, { weight, gates: ["g"] });
        const leads = each.map(() => ({ of: new Lead(), over: new Lead() }));
        drive.run(200, ({ mark }) => {
          const share = 1 / mark.weight;
          leads.forEach((lead, i) => {
            if (mark.lane !== "late" && mark.lane !== String(i)) return;
            lead.of.gain(mark.lane === "late" ? share : -share);
            lead.over.gain(mark.lane === "late" ? -share : share);
            assert.ok(lead.of.most <= 2 && lead.over.most <= 2);
          });
        });
      },
    ),
    { numRuns: 60 },
  );
});

test("behind a gate a path is fair level by level", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }), {
        minLength: 2,
        maxLength: 4,
      }),
      fc.integer({ min: 1, max: 30 }),
      (tenants, burst) => {
        const drive = new Drive();
        const rules = Object.fromEntries(tenants.map((_, t) => [`t${t}`, 1 + (t % 3)]));
        drive.open("q", { weights: rules });
        drive.engine.setGate("g", { rate: 100, burst }, drive.now);
        const top = new LaneShares();
        const below = tenants.map(() => new LaneShares());
        tenants.forEach((users, t) => {
          top.watch(`t${t}`, 1 + (t % 3));
          users.forEach((weight, u) => {
            below[t]!.watch(`${u}`, weight);
            const fairnessKey = [`t${t}`, `u${u}`];
            drive.addMany("q", `${t}/${u}`, 300, { fairnessKey, weight, gates: ["g"] });
          });
        });
        drive.run(250, ({ mark }) => {
          const [tenant, user] = mark.lane.split("/");
          top.serve(`t${tenant}`);
          below[Number(tenant)]!.serve(user!);
          assert.ok(top.excess() <= 0, "between tenants");
          for (const shares of below) assert.ok(shares.excess() <= 0, "between a tenant's keys");
        });
      },
    ),
    { numRuns: 40 },
  );
});

/** Two queues at one gate; the lead of each over the other in any interval. */
function twoQueues(weightA: number, weightB: number, burst: number): Lead[] {
  const drive = new Drive();
  drive.open("a", { weight: weightA });
  drive.open("b", { weight: weightB });
  drive.engine.setGate("g", { rate: 100, burst }, drive.now);
  for (let lane = 0; lane < 5; lane++) {
    drive.addMany("a", `${lane}`, 300, { gates: ["g"] });
    drive.addMany("b", `${lane}`, 300, { gates: ["g"] });
  }
  drive.run(burst);
  const leads = [new Lead(), new Lead()];
  drive.run(400, ({ queue }) => {
    const share = queue === "a" ? 1 / weightA : -1 / weightB;
    leads[0]!.gain(share);
    leads[1]!.gain(-share);
  });
  return leads;
}

test("two queues of weights 1:3 share a gate by their weights, whatever its burst", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.boolean(), (burst, isHeavyFirst) => {
      const leads = isHeavyFirst ? twoQueues(3, 1, burst) : twoQueues(1, 3, burst);
      for (const lead of leads) assert.ok(lead.most <= 2);
    }),
    { numRuns: 20 },
  );
});

test("a queue's weight can change while its jobs wait at a gate", () => {
  const drive = new Drive();
  drive.open("a");
  drive.open("b");
  drive.engine.setGate("g", { rate: 100, burst: 1 }, drive.now);
  drive.addMany("a", "x", 900, { gates: ["g"] });
  drive.addMany("b", "x", 900, { gates: ["g"] });
  drive.run(21);
  drive.engine.setQueue("b", { weight: 3 }, drive.now);
  const lead = new Lead();
  drive.run(400, ({ queue }) => {
    lead.gain(queue === "a" ? 1 : -1 / 3);
    assert.ok(lead.most <= 2);
  });
});

test("a weight set by hand on a level counts behind a gate, also for those that wait", () => {
  const drive = Drive.on("q");
  drive.engine.setGate("g", { rate: 100, burst: 1 }, drive.now);
  for (const tenant of ["a", "b"]) {
    for (let user = 0; user < 3; user++) {
      const fairnessKey = [tenant, `${user}`];
      drive.addMany("q", tenant, 300, { fairnessKey, gates: ["g"] });
    }
  }
  drive.run(21);
  drive.engine.setLaneWeight("q", ["b"], 3, drive.now);
  const lead = new Lead();
  drive.run(400, ({ mark }) => {
    lead.gain(mark.lane === "a" ? 1 : -1 / 3);
    assert.ok(lead.most <= 2);
  });
});
