import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Drive, type Mark } from "./drive.ts";
import { LaneShares, Lead } from "./shares.ts";

const LANES = 1000;

/** A thousand backlogged lanes, served `warm` times. */
function crowd(warm: number, weightOf: (lane: number) => number = () => 1): Drive {
  const drive = Drive.on("q");
  for (let i = 0; i < LANES; i++) {
    drive.addMany("q", `old-${i}`, 5 * weightOf(i), { weight: weightOf(i) });
  }
  drive.run(warm);
  return drive;
}

test("a newcomer behind a thousand backlogged lanes waits for one dispatch at most", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: LANES, max: 3 * LANES }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 50 }),
      (warm, spread, weight) => {
        const drive = crowd(warm, (lane) => 1 + (lane % spread));
        drive.add("q", "new", { weight });
        const lanes = drive.run(2).map(({ mark }) => mark.lane);
        assert.ok(lanes.includes("new"), String(lanes));
      },
    ),
    { numRuns: 12 },
  );
});

test("several newcomers alternate one to one with the round, in the order they came", () => {
  fc.assert(
    fc.property(fc.nat(800), fc.integer({ min: 2, max: 60 }), (into, newcomers) => {
      // The first thousand jobs are the start, where every lane is a newcomer.
      const drive = crowd(LANES + into);
      for (let i = 0; i < newcomers; i++) drive.addMany("q", `new-${i}`, 3);
      const order = drive.run(2 * newcomers).map(({ mark }) => mark.lane);
      const isNew = order.map((lane) => lane.startsWith("new"));
      for (let i = 1; i < order.length; i++) assert.notEqual(isNew[i], isNew[i - 1], String(order));
      const came = order.filter((lane) => lane.startsWith("new"));
      assert.deepEqual(
        came,
        came.map((_, i) => `new-${i}`),
      );
    }),
    { numRuns: 12 },
  );
});

test("being idle earns nothing: a lane that returns gets no more than others from then on", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.nat(300),
      (weights, weight, idle) => {
        const drive = Drive.on("q");
        weights.forEach((each, i) => void drive.addMany("q", `${i}`, 500, { weight: each }));
        drive.addMany("q", "late", 3, { weight });
        drive.run(40 + idle);
        drive.addMany("q", "late", 500, { weight });
        const leads = weights.map(() => new Lead());
        drive.run(300, ({ mark }) => {
          const share = 1 / mark.weight;
          leads.forEach((lead, i) => {
            if (mark.lane === "late") lead.gain(share);
            else if (mark.lane === String(i)) lead.gain(-share);
            assert.ok(lead.most <= 2);
          });
        });
      },
    ),
    { numRuns: 40 },
  );
});

const strategy = fc.array(fc.record({ jobs: fc.integer({ min: 1, max: 6 }), pause: fc.nat(12) }), {
  minLength: 10,
  maxLength: 60,
  size: "max",
});

test("leaving and coming back gains nothing: a sparse lane leads by two turns at most", () => {
  fc.assert(
    fc.property(
      strategy,
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
      (moves, weight, weights) => {
        const drive = Drive.on("q");
        weights.forEach((each, i) => void drive.addMany("q", `${i}`, 2, { weight: each }));
        const leads = weights.map(() => new Lead());
        const watch = ({ lane, weight: of }: Mark): void => {
          if (lane !== "sparse") drive.add("q", lane, { weight: of });
          const share = 1 / of;
          leads.forEach((lead, i) => {
            if (lane === "sparse") lead.gainSince(share);
            else if (lane === String(i)) lead.gainSince(-share);
            assert.ok(lead.most <= 2, "counted from any of its comings");
          });
        };
        for (const move of moves) {
          for (const lead of leads) lead.begin();
          drive.addMany("q", "sparse", move.jobs, { weight });
          let left = move.jobs;
          while (left > 0) {
            const { mark } = drive.run(1)[0]!;
            if (mark.lane === "sparse") left--;
            watch(mark);
          }
          drive.run(move.pause, ({ mark }) => watch(mark));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("ten thousand fresh keys under one path take no more than the path's share", () => {
  const drive = Drive.on("q");
  const shares = new LaneShares();
  for (const lane of ["flood", "a", "b"]) shares.watch(lane, 1);
  drive.addMany("q", "a", 4000);
  drive.addMany("q", "b", 4000);
  for (let i = 0; i < 10_000; i++) drive.add("q", "flood", { fairnessKey: ["flood", `key-${i}`] });
  drive.run(9000, ({ mark }) => {
    shares.serve(mark.lane);
    assert.ok(shares.excess() <= 0);
  });
});

test("fresh keys that keep coming under one path never take more than two turns ahead", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { minLength: 20, maxLength: 100, size: "max" }), (floods) => {
      const drive = Drive.on("q");
      drive.addMany("q", "a", 3000);
      const lead = new Lead();
      let key = 0;
      for (const count of floods) {
        for (let i = 0; i < count; i++) drive.add("q", "flood", { fairnessKey: ["f", `${key++}`] });
        drive.run(8, ({ mark }) => {
          lead.gain(mark.lane === "flood" ? 1 : -1);
          assert.ok(lead.most <= 2);
        });
      }
    }),
    { numRuns: 30 },
  );
});

for (const where of ["in the ring", "behind a gate"]) {
  test(`a tenant with a thousand sub-keys gets no more than one with one key, ${where}`, () => {
    const drive = Drive.on("q");
    const gates = where === "behind a gate" ? ["g"] : [];
    drive.engine.setGate("g", { rate: 1000, burst: 1 }, drive.now);
    for (let i = 0; i < 1000; i++) {
      const fairnessKey = ["wide", `sub-${i}`];
      for (let j = 0; j < 3; j++) drive.add("q", "wide", { fairnessKey, gates });
    }
    for (let i = 0; i < 3000; i++) drive.add("q", "one", { fairnessKey: ["one", "x"], gates });
    drive.addMany("q", "plain", 3000, { gates });
    const shares = new LaneShares();
    for (const lane of ["wide", "one", "plain"]) shares.watch(lane, 1);
    drive.run(8900, ({ mark }) => {
      shares.serve(mark.lane);
      assert.ok(shares.excess() <= 0);
    });
  });
}
